@_spi(Engine) internal import StrandlineLog

/// An open layer file: reads that are whole or an error, and what a defect is called.
///
/// Closes the file with its last owner.
final class LayerReader: Sendable {
  let path: String
  let byteCount: Int
  private let fileSystem: any FileSystem
  private let file: FileDescriptor

  /// Opens the file and compares its length with what META says.
  init(opening entry: LayerEntry, in directory: StoreDirectory) throws(StoreError) {
    let path = directory.path(of: entry.fileName)
    self.path = path
    fileSystem = directory.fileSystem
    guard let byteCount = Int(exactly: entry.byteCount) else {
      throw Self.damage(path, at: nil, expected: "a length that a file can have", found: "\(entry.byteCount) bytes")
    }
    self.byteCount = byteCount
    do throws(Errno) {
      file = try directory.fileSystem.openRetrying(path, .read)
    } catch {
      if error == .notFound {
        throw Self.damage(path, at: nil, expected: "a layer of \(byteCount) bytes", found: "no file")
      }
      throw .ioFailed(IOFailure(operation: .open, path: path, errno: error))
    }
    let status: FileStatus
    do throws(Errno) {
      status = try fileSystem.retryingInterrupts { [fileSystem, file] () throws(Errno) in try fileSystem.status(file) }
    } catch {
      throw .ioFailed(IOFailure(operation: .status, path: path, errno: error))
    }
    guard status.kind == .file, status.byteCount == Int64(byteCount) else {
      throw Self.damage(
        path, at: nil, expected: "a file of \(byteCount) bytes",
        found: status.kind == .file ? "\(status.byteCount) bytes" : "no regular file")
    }
  }

  /// Opens a file of any length; nil if that is not possible.
  init?(salvaging entry: LayerEntry, in directory: StoreDirectory) {
    path = directory.path(of: entry.fileName)
    fileSystem = directory.fileSystem
    let opened: FileDescriptor
    do throws(Errno) { opened = try directory.fileSystem.openRetrying(path, .read) } catch { return nil }
    file = opened
    let status = try? directory.fileSystem.status(opened)
    guard let status, status.kind == .file, let byteCount = Int(exactly: status.byteCount) else {
      directory.fileSystem.closeQuietly(opened)
      return nil
    }
    self.byteCount = byteCount
  }

  deinit { fileSystem.closeQuietly(file) }

  /// Fills `buffer` from `offset` on.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) {
    let count: Int
    do throws(Errno) {
      count = try fileSystem.readFully(file, into: buffer, at: Int64(offset))
    } catch {
      throw .ioFailed(IOFailure(operation: .read, path: path, errno: error))
    }
    guard count == buffer.count else {
      throw damage(
        at: offset + count, expected: "\(buffer.count) bytes at \(offset)",
        found: "the end of the file, \(buffer.count - count) bytes early")
    }
  }

  func damage(at offset: Int?, expected: String, found: String) -> StoreError {
    Self.damage(path, at: offset, expected: expected, found: found)
  }

  /// What to throw for a defect of `what`, which stands at `offset`.
  func error(_ defect: LayerDefect, of what: String, at offset: Int) -> StoreError {
    switch defect {
    case .unsupportedMajor(let found):
      .unsupportedFormat(file: path, detail: .majorVersion(found: found, supported: LayerFormat.major))
    case .unknownIncompatibleBit(let bit): .unsupportedFormat(file: path, detail: .featureBit(bit))
    default: damage(at: offset, expected: what, found: defect.description)
    }
  }

  private static func damage(_ path: String, at offset: Int?, expected: String, found: String) -> StoreError {
    .corrupt(
      CorruptionReport(
        reason: .layerDamaged, file: path, offset: offset.map { Int64($0) }, expected: expected, found: found))
  }
}

extension Errno {
  fileprivate static let notFound = Errno(2)
}
