import Glibc

/// Small files that an operator names: settings, secrets, keys.
enum SettingsFile {
  static let byteCountMax = 1 << 20

  /// - Throws: ``Failure``: an I/O error, or usage for a file that is larger than any of them.
  static func read(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path, errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= byteCountMax else {
        throw Failure(.usage, "\(path): larger than \(byteCountMax) bytes")
      }
    }
  }

  /// What a file says whose whole content is one secret or token.
  static func readLine(_ path: String) throws(Failure) -> [UInt8] {
    // A line break at the end of the file belongs to the editor, not to the secret.
    var bytes = try read(path)
    while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
    return bytes
  }

  private static func failure(_ path: String, _ number: Int32) -> Failure {
    Failure(.ioFailure, "\(path): \(String(cString: strerror(number)))")
  }
}
