/// A segment that is open for reading. Closes its descriptor when the last holder lets go, so a file that was unlinked
/// meanwhile stays readable that long.
final class SegmentFile: Sendable {
  let fileSystem: any FileSystem
  let file: FileDescriptor
  let path: String
  let header: SegmentHeader

  init(fileSystem: any FileSystem, file: FileDescriptor, path: String, header: SegmentHeader) {
    self.fileSystem = fileSystem
    self.file = file
    self.path = path
    self.header = header
  }

  deinit { fileSystem.closeQuietly(file) }

  func offset(of lsn: LSN) -> Int64 { Int64(lsn.rawValue &- header.baseLSN.rawValue) }
  func lsn(at offset: Int64) -> LSN { header.baseLSN.advanced(by: offset) }

  func failure(_ operation: IOFailure.Operation, _ errno: Errno) -> IOFailure {
    IOFailure(operation: operation, path: path, errno: errno)
  }

  func byteCount() throws(LogError) -> Int64 {
    do throws(Errno) {
      return try fileSystem.retryingInterrupts { () throws(Errno) in try fileSystem.status(file).byteCount }
    } catch {
      throw .ioFailed(failure(.status, error))
    }
  }

  /// Whether every byte in the range is zero; bytes that are not there count as zero.
  func isZero(from start: Int64, to end: Int64) throws(LogError) -> Bool {
    var window = FileWindow(fileSystem: fileSystem, file: file, end: end)
    var offset = start
    while offset < end {
      do throws(Errno) {
        let bytes = try window.bytes(at: offset, count: Int(min(256 << 10, end - offset)))
        if !bytes.isAllZero { return false }
        if bytes.isEmpty { return true }
        offset = try window.endOfHole(from: offset + Int64(bytes.count))
      } catch {
        throw .ioFailed(failure(.read, error))
      }
    }
    return true
  }
}
