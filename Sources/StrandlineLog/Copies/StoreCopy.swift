internal import Glibc

/// Builds a complete store out of files of another: for backups and kept copies.
///
/// Everything is made under a temporary name and synced; the rename at the end is the moment the copy exists. Interrupted, it is a
/// temporary directory and nothing else.
struct StoreCopy {
  /// What is copied: closed segments whole, the last one up to `end`.
  struct Source {
    var headers: [SegmentHeader]
    var end: LSN
    var endTag: UInt64
    var root: RootSlot
  }

  enum Method {
    /// Second names for the same files. The copy's writer begins a new segment before it writes.
    case link
    case copy
  }

  let directory: StoreDirectory
  let environment: Environment

  private var fileSystem: any FileSystem { directory.fileSystem }

  /// - Parameters:
  ///   - target: where the copy is to stand; nothing may be there.
  ///   - temporary: where it is built; in the same directory.
  /// - Returns: bytes of the copied or linked files.
  /// - Throws: ``LogError/copyUnconfirmed(path:_:)`` with the whole copy at `target`, other errors with nothing there.
  func make(_ source: Source, at target: String, temporary: String, method: Method) throws(LogError) -> Int64 {
    let there = try directory.perform(.status, target) { () throws(Errno) in
      try fileSystem.statusIfPresent(at: target)
    }
    if there != nil { throw .targetExists(path: target) }
    let place = NewDirectory(target: target, temporary: temporary, fileSystem: fileSystem)
    try place.begin()
    let byteCount: Int64
    do throws(LogError) {
      byteCount = try fill(place.directory, source, method: method)
    } catch {
      throw place.abandon(error)
    }
    try place.finish()
    return byteCount
  }

  private func fill(_ copy: StoreDirectory, _ source: Source, method: Method) throws(LogError) -> Int64 {
    var total: Int64 = 0
    for (index, header) in source.headers.enumerated() {
      let isLast = index == source.headers.count - 1
      let end = isLast ? source.end : source.headers[index + 1].baseLSN
      let byteCount = Int64(end.rawValue - header.baseLSN.rawValue)
      // A last segment that will be appended to gets the space that a RESET needs on a full disk.
      let reserve = isLast && method == .copy ? SpaceAhead.reserveByteCount : 0
      try transfer(header.fileName.description, to: copy, byteCount: byteCount, zeros: reserve, method: method)
      total += byteCount
    }
    for layer in source.root.layers {
      try transfer(layer.fileName, to: copy, byteCount: Int64(layer.byteCount), zeros: 0, method: method)
      total += Int64(layer.byteCount)
    }
    var root = source.root
    root.incarnation = environment.randomBits()
    if let first = source.headers.first, let last = source.headers.last {
      root.firstLiveOrdinal = first.ordinal
      root.lastCreatedOrdinal = last.ordinal
      root.lastCreatedID = last.id
    }
    root.durableMark = source.end
    root.closedCleanly = true
    root.tailTag = source.endTag
    try copy.writeNew(copy.path(of: RootSlot.fileName), RootFile.bytes(of: root))
    try copy.syncEntries()
    return total
  }

  func transfer(
    _ name: String, to copy: StoreDirectory, byteCount: Int64, zeros: Int64, method: Method
  ) throws(LogError) {
    let path = directory.path(of: name)
    let target = copy.path(of: name)
    if method == .link {
      do throws(Errno) {
        try fileSystem.retryingInterrupts { () throws(Errno) in try fileSystem.link(path, to: target) }
        return
      } catch {
        // Some file systems have no links, or no more of them; bytes can always be copied.
        guard [EPERM, EMLINK, EOPNOTSUPP, EXDEV, ENOSYS].contains(error.rawValue) else {
          let failure = IOFailure(operation: .link, path: target, errno: error)
          throw error.meansOutOfSpace ? .outOfSpace(failure) : .ioFailed(failure)
        }
      }
    }
    let from = try directory.perform(.open, path) { () throws(Errno) in try fileSystem.openRetrying(path, .read) }
    defer { fileSystem.closeQuietly(from) }
    let to = try directory.performNeedingSpace(.open, target) { () throws(Errno) in
      try fileSystem.openRetrying(target, .create)
    }
    defer { fileSystem.closeQuietly(to) }
    if !(try cloned(from, to, byteCount: byteCount, zeros: zeros)) {
      try copyBytes(from, path, to, target, byteCount: byteCount)
      try appendZeros(to, target, at: byteCount, zeros)
    }
    try directory.performNeedingSpace(.sync, target) { () throws(Errno) in try fileSystem.sync(to) }
  }

  /// Shares the bytes where the file system can, and only whole files of exactly the size.
  private func cloned(
    _ from: FileDescriptor, _ to: FileDescriptor, byteCount: Int64, zeros: Int64
  ) throws(LogError) -> Bool {
    guard zeros == 0 else { return false }
    do throws(Errno) {
      guard try fileSystem.status(from).byteCount == byteCount else { return false }
      try fileSystem.clone(from, to: to)
      return true
    } catch {
      return false
    }
  }

  private func copyBytes(
    _ from: FileDescriptor, _ path: String, _ to: FileDescriptor, _ target: String, byteCount: Int64
  ) throws(LogError) {
    var window = FileWindow(fileSystem: fileSystem, file: from, end: byteCount, chunkByteCount: 1 << 20)
    var offset: Int64 = 0
    while offset < byteCount {
      let bytes = try directory.perform(.read, path) { () throws(Errno) in
        try window.bytes(at: offset, count: Int(min(1 << 20, byteCount - offset)))
      }
      guard !bytes.isEmpty else {
        throw .corrupt(
          CorruptionReport(
            reason: .fileTruncated, file: path, offset: offset, expected: "\(byteCount) bytes", found: "\(offset)"))
      }
      try directory.performNeedingSpace(.write, target) { () throws(Errno) in
        try fileSystem.writeAll(to, bytes, at: offset)
      }
      offset += Int64(bytes.count)
    }
  }

  private func appendZeros(
    _ file: FileDescriptor, _ path: String, at offset: Int64, _ byteCount: Int64
  ) throws(LogError) {
    guard byteCount > 0 else { return }
    let zeros = [UInt8](repeating: 0, count: Int(byteCount))
    try directory.performNeedingSpace(.write, path) { () throws(Errno) in
      try zeros.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in try fileSystem.writeAll(file, bytes, at: offset) }
    }
  }
}
