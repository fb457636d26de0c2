internal import Glibc

/// Makes the file's last write one that did not arrive whole: zeroes a piece near the last byte that is not zero.
func tearLastWrite(of path: String) throws {
  let file = open(path, O_RDWR | O_CLOEXEC)
  guard file >= 0 else { throw BenchmarkError.ioFailed(operation: "open", path: path, errno: errno) }
  defer { close(file) }
  // Files are filled with zeros ahead of the tail, at most this far.
  var bytes = [UInt8](repeating: 0, count: 4 << 20)
  let start = max(0, try byteCount(ofFile: path) - bytes.count)
  let count = pread(file, &bytes, bytes.count, start)
  guard count > 0, let end = bytes[..<count].lastIndex(where: { $0 != 0 }), start + end > 1024 else {
    throw BenchmarkError.failed("\(path) has no end to tear")
  }
  let zeros = [UInt8](repeating: 0, count: 512)
  guard pwrite(file, zeros, zeros.count, start + end - 1024) == zeros.count, fdatasync(file) == 0 else {
    throw BenchmarkError.ioFailed(operation: "write", path: path, errno: errno)
  }
}
