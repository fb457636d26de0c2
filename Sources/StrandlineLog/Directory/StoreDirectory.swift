internal import Glibc

/// The directory of a store: names to paths, calls to typed errors.
@_spi(Engine) public struct StoreDirectory: Sendable {
  public let path: String
  public let fileSystem: any FileSystem

  public init(path: String, fileSystem: any FileSystem) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// `path` as an absolute one, with one slash between names and none at its end.
  public static func absolute(_ path: String) throws(LogError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw .noStore(path: path) }
    // A name that is a dot says nothing; two dots may lead anywhere where links are in front of them.
    let names = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
    if path.hasPrefix("/") { return "/\(names)" }
    guard let working = getcwd(nil, 0) else {
      throw .ioFailed(IOFailure(operation: .status, path: path, errno: .current))
    }
    defer { free(working) }
    let current = String(cString: working)
    if names.isEmpty { return current }
    return current == "/" ? "/\(names)" : "\(current)/\(names)"
  }

  public func path(of name: String) -> String { path == "/" ? "/\(name)" : "\(path)/\(name)" }

  /// The directory that holds this one.
  var parent: String { Self.parent(of: path) }

  /// The directory that holds the file or directory at an absolute path.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Runs one call, again when a signal interrupted it, and gives its failure a name. Only a sync is not run again: an interrupted one has
  /// failed like any other.
  public func perform<Result>(
    _ operation: IOFailure.Operation, _ path: String, _ call: () throws(Errno) -> Result
  ) throws(LogError) -> Result {
    do throws(Errno) {
      return try run(operation, call)
    } catch {
      throw .ioFailed(IOFailure(operation: operation, path: path, errno: error))
    }
  }

  /// As `perform`, but a full disk is ``LogError/outOfSpace(_:)``: for calls that may be tried again after it.
  public func performNeedingSpace<Result>(
    _ operation: IOFailure.Operation, _ path: String, _ call: () throws(Errno) -> Result
  ) throws(LogError) -> Result {
    do throws(Errno) {
      return try run(operation, call)
    } catch {
      let failure = IOFailure(operation: operation, path: path, errno: error)
      throw error.meansOutOfSpace ? .outOfSpace(failure) : .ioFailed(failure)
    }
  }

  private func run<Result>(
    _ operation: IOFailure.Operation, _ call: () throws(Errno) -> Result
  ) throws(Errno) -> Result {
    switch operation {
    case .sync, .syncDirectory, .close: try call()
    default: try fileSystem.retryingInterrupts(call)
    }
  }

  public func syncEntries() throws(LogError) {
    try perform(.syncDirectory, path) { () throws(Errno) in
      try fileSystem.syncDirectory(path)
    }
  }

  /// Writes a new file whole and syncs it. Fails if the name exists; leaves nothing on failure.
  public func writeNew(_ filePath: String, _ bytes: [UInt8]) throws(LogError) {
    let file = try performNeedingSpace(.open, filePath) { () throws(Errno) in
      try fileSystem.openRetrying(filePath, .create)
    }
    do throws(LogError) {
      try performNeedingSpace(.write, filePath) { () throws(Errno) in
        try bytes.span.bytes.withUnsafeBytes { (buffer) throws(Errno) in
          try fileSystem.writeAll(file, buffer, at: 0)
        }
      }
      try performNeedingSpace(.sync, filePath) { () throws(Errno) in try fileSystem.sync(file) }
    } catch {
      fileSystem.closeQuietly(file)
      discard(filePath)
      throw error
    }
    fileSystem.closeQuietly(file)
  }

  /// Removes what an operation that failed has begun. If that fails too, the next writable open does it.
  public func discard(_ filePath: String) {
    do throws(Errno) { try fileSystem.unlinkIfPresent(filePath) } catch {}
  }

  /// Removes a directory of ours with all files in it; names that are not there any more are fine.
  public func removeTree(_ treePath: String) throws(Errno) {
    for name in try fileSystem.retryingInterrupts({ () throws(Errno) in try fileSystem.list(treePath) }) {
      let inner = "\(treePath)/\(name)"
      if try fileSystem.statusIfPresent(at: inner)?.kind == .directory {
        try removeTree(inner)
      } else {
        try fileSystem.unlinkIfPresent(inner)
      }
    }
    try fileSystem.retryingInterrupts { () throws(Errno) in try fileSystem.removeDirectory(treePath) }
  }
}
