public import StrandlineLog

/// A file system that hands every call on to another one and may look at it, change it or refuse it on the way.
///
/// A wrapper writes one method, ``perform(_:writing:_:)``; the 24 of ``FileSystem`` come from here.
public protocol InterceptingFileSystem: FileSystem, LosesDirtyBlocks {
  /// Who gets the calls.
  var base: any FileSystem { get }
  /// Names of the open descriptors.
  var names: DescriptorNames { get }

  /// Carries out one call.
  ///
  /// - Parameters:
  ///   - call: what is asked for, numbered by the wrapper.
  ///   - bytes: what a write would write.
  ///   - body: asks ``base``. For reads and writes a smaller ``FileCall/byteCount`` makes a short call of it.
  func perform<Result>(
    _ call: FileCall, writing bytes: UnsafeRawBufferPointer?, _ body: (FileCall) throws(Errno) -> Result
  ) throws(Errno) -> Result
}

/// Which name each open descriptor has, renames included.
public final class DescriptorNames: Sendable {
  private let paths = TestLock<[FileDescriptor: String]>([:])

  public init() {}

  func path(of file: FileDescriptor) -> String {
    paths.withLock { $0[file] ?? "descriptor \(file.rawValue)" }
  }

  func opened(_ file: FileDescriptor, _ path: String) { paths.withLock { $0[file] = path } }
  func closed(_ file: FileDescriptor) { paths.withLock { $0[file] = nil } }

  func renamed(_ old: String, to new: String) {
    paths.withLock { paths in
      for (file, path) in paths where path == old || path.hasPrefix(old + "/") {
        paths[file] = new + path.dropFirst(old.count)
      }
    }
  }
}

extension InterceptingFileSystem {
  private func call(
    _ operation: FileOperation, _ path: String, to other: String? = nil, at offset: Int64? = nil, count: Int? = nil,
    on descriptor: FileDescriptor? = nil
  ) -> FileCall {
    FileCall(
      number: 0, operation: operation, path: path, otherPath: other, offset: offset, byteCount: count,
      descriptor: descriptor)
  }

  private func call(
    _ operation: FileOperation, _ file: FileDescriptor, at offset: Int64? = nil, count: Int? = nil
  ) -> FileCall {
    call(operation, names.path(of: file), at: offset, count: count, on: file)
  }

  public func failSync(descriptor: Int32, losing loss: SyncLoss) {
    (base as? any LosesDirtyBlocks)?.failSync(descriptor: descriptor, losing: loss)
  }

  public func open(_ path: String, _ access: FileAccess) throws(Errno) -> FileDescriptor {
    let file = try perform(call(access == .create ? .create : .open, path), writing: nil) { _ throws(Errno) in
      try base.open(path, access)
    }
    names.opened(file, path)
    return file
  }

  public func close(_ file: FileDescriptor) throws(Errno) {
    defer { names.closed(file) }
    try perform(call(.close, file), writing: nil) { _ throws(Errno) in try base.close(file) }
  }

  public func read(
    _ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    try perform(call(.read, file, at: offset, count: buffer.count), writing: nil) { call throws(Errno) in
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<(call.byteCount ?? buffer.count)])
      return try base.read(file, into: part, at: offset)
    }
  }

  public func write(
    _ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    try perform(call(.write, file, at: offset, count: bytes.count), writing: bytes) { call throws(Errno) in
      let part = UnsafeRawBufferPointer(rebasing: bytes[0..<(call.byteCount ?? bytes.count)])
      return try base.write(file, part, at: offset)
    }
  }

  public func syncData(_ file: FileDescriptor) throws(Errno) {
    try perform(call(.syncData, file), writing: nil) { _ throws(Errno) in try base.syncData(file) }
  }

  public func sync(_ file: FileDescriptor) throws(Errno) {
    try perform(call(.sync, file), writing: nil) { _ throws(Errno) in try base.sync(file) }
  }

  public func truncate(_ file: FileDescriptor, to byteCount: Int64) throws(Errno) {
    try perform(call(.truncate, file, at: byteCount), writing: nil) { _ throws(Errno) in
      try base.truncate(file, to: byteCount)
    }
  }

  public func allocate(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno) {
    try perform(call(.allocate, file, at: range.lowerBound, count: range.count), writing: nil) { _ throws(Errno) in
      try base.allocate(file, range)
    }
  }

  public func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(Errno) {
    let call = call(.clone, names.path(of: source), to: names.path(of: target), on: source)
    try perform(call, writing: nil) { _ throws(Errno) in try base.clone(source, to: target) }
  }

  public func dropCache(_ file: FileDescriptor, from offset: Int64) throws(Errno) {
    try perform(call(.dropCache, file, at: offset), writing: nil) { _ throws(Errno) in
      try base.dropCache(file, from: offset)
    }
  }

  public func nextData(_ file: FileDescriptor, from offset: Int64) throws(Errno) -> Int64? {
    try perform(call(.nextData, file, at: offset), writing: nil) { _ throws(Errno) in
      try base.nextData(file, from: offset)
    }
  }

  public func status(_ file: FileDescriptor) throws(Errno) -> FileStatus {
    try perform(call(.status, file), writing: nil) { _ throws(Errno) in try base.status(file) }
  }

  public func status(at path: String) throws(Errno) -> FileStatus {
    try perform(call(.statusAt, path), writing: nil) { _ throws(Errno) in try base.status(at: path) }
  }

  public func makeDirectory(_ path: String) throws(Errno) {
    try perform(call(.makeDirectory, path), writing: nil) { _ throws(Errno) in try base.makeDirectory(path) }
  }

  public func removeDirectory(_ path: String) throws(Errno) {
    try perform(call(.removeDirectory, path), writing: nil) { _ throws(Errno) in try base.removeDirectory(path) }
  }

  public func unlink(_ path: String) throws(Errno) {
    try perform(call(.unlink, path), writing: nil) { _ throws(Errno) in try base.unlink(path) }
  }

  public func link(_ existing: String, to new: String) throws(Errno) {
    try perform(call(.link, existing, to: new), writing: nil) { _ throws(Errno) in try base.link(existing, to: new) }
  }

  public func rename(_ old: String, to new: String, replacing: Bool) throws(Errno) {
    try perform(call(.rename, old, to: new), writing: nil) { _ throws(Errno) in
      try base.rename(old, to: new, replacing: replacing)
    }
    names.renamed(old, to: new)
  }

  public func list(_ path: String) throws(Errno) -> [String] {
    try perform(call(.list, path), writing: nil) { _ throws(Errno) in try base.list(path) }
  }

  public func syncDirectory(_ path: String) throws(Errno) {
    try perform(call(.syncDirectory, path), writing: nil) { _ throws(Errno) in try base.syncDirectory(path) }
  }

  public func lockDirectory(_ path: String) throws(Errno) -> FileDescriptor {
    let file = try perform(call(.lockDirectory, path), writing: nil) { _ throws(Errno) in
      try base.lockDirectory(path)
    }
    names.opened(file, path)
    return file
  }

  public func isDirectoryLocked(_ path: String) throws(Errno) -> Bool {
    try perform(call(.isDirectoryLocked, path), writing: nil) { _ throws(Errno) in try base.isDirectoryLocked(path) }
  }

  public func kind(of path: String) throws(Errno) -> FileSystemKind {
    try perform(call(.kind, path), writing: nil) { _ throws(Errno) in try base.kind(of: path) }
  }

  /// A question that changes nothing and that nothing depends on: it is no call of the trace.
  public func freeByteCount(at path: String) throws(Errno) -> Int64? { try base.freeByteCount(at: path) }
}
