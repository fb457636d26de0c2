import Glibc
import StrandlineTestSupport

@testable import strandline

/// A directory of its own for one test; removed with everything in it at the end.
final class ScratchDirectory {
  let path: String

  init() throws {
    DescriptorLimit.raise()
    path = try DirectoryTree.makeTemporary(prefix: "strandline-test-")
  }

  deinit { try? DirectoryTree.remove(path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file; makes the directories in front of its name.
  @discardableResult
  func write(_ bytes: [UInt8], to name: String) -> String {
    for (index, byte) in name.utf8.enumerated() where byte == UInt8(ascii: "/") {
      mkdir(file(String(decoding: name.utf8.prefix(index), as: UTF8.self)), 0o700)
    }
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(descriptor >= 0, "\(name) not made")
    precondition(Glibc.write(descriptor, bytes, bytes.count) == bytes.count, "\(name) not written")
    close(descriptor)
    return file(name)
  }
}
