import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Who may open a store while someone has it, on the machine's own disk.
struct OpenersTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  private func expectLocked(_ path: String) {
    do throws(LogError) {
      _ = try Log.open(at: path)
      Issue.record("\(path) was opened a second time")
    } catch {
      guard case .locked = error else {
        Issue.record("\(path): \(error)")
        return
      }
    }
  }

  @Test func `a store in use is in use by whatever path one comes, and from whatever thread`() throws {
    let log = try Log.open(at: path)
    try log.append([[1]])
    let link = directory.path + "/link"
    try #require(symlink(path, link) == 0)
    try #require(mkdir(directory.path + "/other", 0o755) == 0)
    let ways = [
      path, path + "/", path + "//", path + "/.", path + "/../store", directory.path + "/other/../store", link,
    ]
    for way in ways { expectLocked(way) }
    withThreads(4) { index in expectLocked(ways[index]) }
    try log.append([[2]])
    try log.close()
    #expect(try Log.open(at: link).openReport.commitCount == 2)
  }

  @Test func `LOCK is text for people: deleting it lets nobody in, and one that was left keeps nobody out`() throws {
    let log = try Log.open(at: path)
    try log.append([[1]])
    let lock = path + "/LOCK"
    try #require(unlink(lock) == 0)
    expectLocked(path)
    try log.append([[2]])
    try log.close()
    for text in ["", "4294967295", "\(getpid())\nhost\n", String(repeating: "x", count: 1 << 16)] {
      let file = try #require(fopen(lock, "w"))
      fputs(text, file)
      fclose(file)
      try Log.open(at: path).close()
    }
    try #require(unlink(lock) == 0 && mkdir(lock, 0o755) == 0)
    #expect(try Log.open(at: path).openReport.commitCount == 2)
  }

  @Test(arguments: [FileSystemKind.network, .copyOnWrite])
  func `a file system that may not keep its promises is warned of`(kind: FileSystemKind) throws {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.environment = Environment(fileSystem: Placed(SimulatedDisk(), on: kind), clock: ManualClock())
    let log = try Log.open(at: "/store", options: options)
    #expect(log.openReport.warnings.contains(.fileSystemWarning(kind)))
    try log.append([[1]])
  }

  /// A disk that says it is of another kind.
  private struct Placed: InterceptingFileSystem {
    let base: any FileSystem
    let names = DescriptorNames()
    private let kind: FileSystemKind

    init(_ base: any FileSystem, on kind: FileSystemKind) {
      self.base = base
      self.kind = kind
    }

    func perform<Result>(
      _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
    ) throws(Errno) -> Result { try body(call) }

    func kind(of path: String) throws(Errno) -> FileSystemKind { kind }
  }
}
