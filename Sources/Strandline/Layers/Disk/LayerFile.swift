@_spi(Engine) internal import StrandlineLog

/// A layer file that is being written, under a temporary name. Let go before it was published, it leaves nothing behind.
final class LayerFile {
  let directory: StoreDirectory
  let temporaryPath: String
  private let file: FileDescriptor
  private var isOpen = true
  private var isPublished = false
  private let buffer: RawMemory
  private var buffered = 0
  /// Where the next byte goes.
  private(set) var byteCount: Int

  /// - Parameter offset: where writing begins; what is in front is written by ``finish(header:name:)``.
  init(in directory: StoreDirectory, id: UInt64, from offset: Int, writeByteCount: Int) throws(StoreError) {
    self.directory = directory
    let path = directory.path(of: LayerFileName(lastSequence: .zero, id: id).description + ".tmp")
    temporaryPath = path
    buffer = RawMemory(byteCount: max(writeByteCount, 4096))
    byteCount = offset
    do throws(LogError) {
      file = try directory.performNeedingSpace(.open, path) { () throws(Errno) in
        try directory.fileSystem.openRetrying(path, .create)
      }
    } catch {
      throw StoreError(error)
    }
  }

  deinit {
    if isOpen { directory.fileSystem.closeQuietly(file) }
    if !isPublished { directory.discard(temporaryPath) }
  }

  @inline(__always)
  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if bytes.count > buffer.bytes.count &- buffered { try flush() }
    if bytes.count > buffer.bytes.count {
      try write(bytes, at: byteCount)
    } else if bytes.count > 0 {
      (buffer.start + buffered).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      buffered &+= bytes.count
    }
    byteCount &+= bytes.count
  }

  func append(_ bytes: [UInt8]) throws(StoreError) {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try append(bytes) }
  }

  /// Zeros up to the next multiple of `alignment`.
  func pad(to alignment: Int) throws(StoreError) {
    try append([UInt8](repeating: 0, count: (alignment - byteCount % alignment) % alignment))
  }

  private func flush() throws(StoreError) {
    guard buffered > 0 else { return }
    try write(UnsafeRawBufferPointer(rebasing: buffer.bytes[0..<buffered]), at: byteCount - buffered)
    buffered = 0
  }

  private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
    do throws(LogError) {
      try directory.performNeedingSpace(.write, temporaryPath) { () throws(Errno) in
        try directory.fileSystem.writeAll(file, bytes, at: Int64(offset))
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Writes what is left and the header, syncs the file, gives it its name and syncs the directory.
  ///
  /// - Throws: with nothing left under either name, as far as the disk lets it be removed.
  func finish(header: [UInt8], name: String) throws(StoreError) {
    try flush()
    try header.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in try write(bytes, at: 0) }
    let path = directory.path(of: name)
    do throws(LogError) {
      try directory.performNeedingSpace(.sync, temporaryPath) { () throws(Errno) in
        try directory.fileSystem.sync(file)
      }
      directory.fileSystem.closeQuietly(file)
      isOpen = false
      try directory.performNeedingSpace(.rename, path) { () throws(Errno) in
        try directory.fileSystem.rename(temporaryPath, to: path, replacing: false)
      }
    } catch {
      // A rename that failed may have happened all the same. The name holds our random id: nobody else's file has it.
      directory.discard(path)
      throw StoreError(error)
    }
    do throws(LogError) {
      try directory.syncEntries()
    } catch {
      directory.discard(path)
      throw StoreError(error)
    }
    isPublished = true
  }
}
