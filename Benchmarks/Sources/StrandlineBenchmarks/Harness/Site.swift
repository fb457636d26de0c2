internal import Glibc

/// Where a run happens: its size and its directories.
struct Site: Sendable {
  static let seed: UInt64 = 42

  var rowCount: Int
  /// Directory of the whole invocation; exists.
  var root: String

  /// A path that no other run uses. Nothing is there.
  func freshPath() throws -> String {
    let path = "\(root)/\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    try makeDirectories(root)
    return path
  }

  /// A directory that every bench of this invocation may use; `build` makes it where it is missing.
  ///
  /// What a crash left half made is made again: it gets its name last.
  func shared(_ name: String, build: (String) throws -> Void) throws -> String {
    let path = "\(root)/shared-\(name)-\(rowCount)"
    if access(path, F_OK) == 0 { return path }
    let unfinished = "\(path).tmp"
    try removeTree(unfinished)
    try makeDirectories(unfinished)
    try build(unfinished)
    guard rename(unfinished, path) == 0 else {
      throw BenchmarkError.ioFailed(operation: "rename", path: unfinished, errno: errno)
    }
    return path
  }

  /// The path of what ``shared(_:build:)`` has made.
  func sharedPath(_ name: String) -> String { "\(root)/shared-\(name)-\(rowCount)" }

  /// Lets the file system finish what earlier runs left to it, so that no run pays for another's files.
  func settle() {
    let directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }
    fsync(directory)
    close(directory)
  }

  /// A copy that a run may change; its files are in the page cache.
  func withCopy<Result>(of path: String, _ body: (String) throws -> Result) throws -> Result {
    let copy = try freshPath()
    defer { try? removeTree(copy) }
    try copyTree(path, to: copy)
    settle()
    try warmCache(under: copy)
    return try body(copy)
  }

  /// A directory for a new store.
  func withEmptyDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let path = try freshPath()
    defer { try? removeTree(path) }
    try makeDirectories(path)
    return try body(path)
  }
}
