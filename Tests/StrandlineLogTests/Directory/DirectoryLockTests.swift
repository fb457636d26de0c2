import Foundation
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct DirectoryLockTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  /// A thread that starts a program makes a child, which has a copy of every descriptor until it calls exec. It may be in
  /// that moment when the log is closed.
  @Test func `a closed log can be opened again though a child still has a copy of its descriptors`() throws {
    let log = try Log.open(at: path)
    let copies = try copiesOfDescriptors(of: path)
    #expect(!copies.isEmpty)
    try log.close()
    let again = try Log.open(at: path)
    #expect(throws: LogError.self) { try Log.open(at: path) }
    // The copies of the old lock end, and the new one holds.
    for copy in copies { close(copy) }
    #expect(throws: LogError.self) { try Log.open(at: path) }
    try again.close()
  }

  /// Duplicates every descriptor of this process that is open on the directory itself.
  private func copiesOfDescriptors(of path: String) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name -> Int32? in
      guard let descriptor = Int32(name) else { return nil }
      var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = target.withUnsafeMutableBytes {
        readlink("/proc/self/fd/\(descriptor)", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
      guard count > 0, String(decoding: target[..<count], as: UTF8.self) == path else { return nil }
      return dup(descriptor)
    }
  }
}
