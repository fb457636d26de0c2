import Glibc

/// Changes bytes of a file in place, as accidents do: for demonstrations.
enum FilePatch {
  static func flip(bit: Int, ofByte offset: Int64, in path: String) throws(Failure) {
    try withFile(path) { descriptor throws(Failure) in
      var byte: UInt8 = 0
      guard pread(descriptor, &byte, 1, off_t(offset)) == 1 else { throw failure("read", path) }
      byte ^= 1 << bit
      guard pwrite(descriptor, &byte, 1, off_t(offset)) == 1 else { throw failure("write", path) }
    }
  }

  static func zero(_ path: String, _ range: Range<Int64>) throws(Failure) {
    try withFile(path) { descriptor throws(Failure) in
      let zeros = [UInt8](repeating: 0, count: 64 << 10)
      var offset = range.lowerBound
      while offset < range.upperBound {
        let count = pwrite(descriptor, zeros, min(zeros.count, Int(range.upperBound - offset)), off_t(offset))
        guard count > 0 else { throw failure("write", path) }
        offset += Int64(count)
      }
    }
  }

  static func contents(of path: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    try withFile(path) { descriptor throws(Failure) in
      var buffer = [UInt8](repeating: 0, count: 1 << 20)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count >= 0 else { throw failure("read", path) }
        if count == 0 { return }
        bytes += buffer[..<count]
      }
    }
    return bytes
  }

  private static func withFile(_ path: String, _ body: (Int32) throws(Failure) -> Void) throws(Failure) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw failure("open", path) }
    defer { close(descriptor) }
    try body(descriptor)
  }

  private static func failure(_ verb: String, _ path: String) -> Failure {
    let reason = String(cString: strerror(errno))
    return Failure(.ioFailure, "cannot \(verb) \(path): \(reason)")
  }
}
