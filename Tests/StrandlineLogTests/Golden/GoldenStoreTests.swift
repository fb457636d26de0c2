import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// This version reads what released versions wrote, and its writer makes the same bytes.
struct GoldenStoreTests {
  private let directory = TemporaryDirectory()

  private struct Seen {
    var report: OpenReport
    var stateHash: String
  }

  private func open(_ path: String, _ access: LogOptions.Access) throws -> Seen {
    var options = GoldenStore.options
    options.access = access
    var hash = StateHash()
    let log = try Log.open(at: path, options: options) { batch in
      for frame in batch.frames {
        if frame.kind == .reset { hash = StateHash() }
        for record in batch.records(of: frame) {
          hash.add(epoch: frame.epoch, sequence: frame.sequence.rawValue, record: record)
        }
      }
    }
    if access == .readWrite { try log.close() }
    return Seen(report: log.openReport, stateHash: "\(hash)")
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    let fileSystem = PosixFileSystem()
    let file = try fileSystem.open(path, .read)
    defer { _ = try? fileSystem.close(file) }
    return try fileSystem.readBytes(file, at: 0, byteCount: Int(fileSystem.status(file).byteCount))
  }

  private func files(_ path: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try PosixFileSystem().list(path) where name != "LOCK" { files[name] = try bytes("\(path)/\(name)") }
    return files
  }

  private func copy(_ store: GoldenStore) throws -> String {
    let target = "\(directory.path)/\(store.rawValue)"
    mkdir(target, 0o755)
    for (name, content) in try files("\(GoldenStore.directory)/\(store.rawValue)") {
      let file = try PosixFileSystem().open("\(target)/\(name)", .create)
      try content.withUnsafeBytes { try PosixFileSystem().writeAll(file, $0, at: 0) }
      try PosixFileSystem().close(file)
    }
    return target
  }

  @Test(arguments: GoldenStore.allCases)
  func `a store of format 1 opens and holds what it held`(store: GoldenStore) throws {
    let expected = try #require(try GoldenStore.expected()[store.rawValue])
    let before = try files("\(GoldenStore.directory)/\(store.rawValue)")
    let readOnly = try open("\(GoldenStore.directory)/\(store.rawValue)", .readOnly)
    #expect(try files("\(GoldenStore.directory)/\(store.rawValue)") == before, "a read-only open wrote")
    let path = try copy(store)
    let writable = try open(path, .readWrite)
    for seen in [readOnly, writable] {
      #expect(seen.stateHash == expected.stateHash)
      #expect(seen.report.commitCount == expected.commitCount)
      #expect(seen.report.epoch == expected.epoch)
    }
    #expect((writable.report.cut != nil) == expected.isCut)
    let again = try open(path, .readWrite)
    #expect(again.stateHash == expected.stateHash)
    #expect(again.report.wasClosedCleanly)
  }

  @Test(arguments: GoldenStore.allCases.filter { $0 != .compressed })
  func `the writer makes the bytes that are on record`(store: GoldenStore) throws {
    let path = "\(directory.path)/new-\(store.rawValue)"
    try store.make(at: path)
    let made = try files(path)
    let recorded = try files("\(GoldenStore.directory)/\(store.rawValue)")
    #expect(made.keys.sorted() == recorded.keys.sorted())
    for (name, content) in recorded { #expect(made[name] == content, "\(name) differs") }
  }

  /// Makes the stores in the directory that `STRANDLINE_WRITE_GOLDEN` names, for a new format version. Existing ones are left alone.
  @Test(.enabled(if: getenv("STRANDLINE_WRITE_GOLDEN") != nil, "STRANDLINE_WRITE_GOLDEN names no directory"))
  func `golden stores are written on demand`() throws {
    let target = try #require(getenv("STRANDLINE_WRITE_GOLDEN").map { String(cString: $0) })
    mkdir(target, 0o755)
    var lines = "# store, state hash, commits, epoch, whether opening cuts\n"
    for store in GoldenStore.allCases {
      let path = "\(target)/\(store.rawValue)"
      try store.make(at: path)
      unlink("\(path)/LOCK")
      let seen = try open(path, .readOnly)
      lines += "\(store.rawValue) \(seen.stateHash) \(seen.report.commitCount) \(seen.report.epoch) "
      lines += store == .torn ? "cut\n" : "whole\n"
    }
    let file = try PosixFileSystem().open("\(target)/expected.txt", .create)
    try Array(lines.utf8).withUnsafeBytes { try PosixFileSystem().writeAll(file, $0, at: 0) }
    try PosixFileSystem().close(file)
  }
}
