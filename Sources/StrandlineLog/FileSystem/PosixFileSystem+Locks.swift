internal import Glibc

extension PosixFileSystem {
  /// Looks the directory up in `/proc/locks`, where the kernel lists every lock that is held.
  ///
  /// A probe with `flock`, shared or for a moment only, would be a lock: a writer that opens in that moment would be turned
  /// away by a tool that only looks. Locks of processes in another PID namespace are not listed to us, and where `/proc` is
  /// not mounted nothing is; the caller is told `ENOENT` then.
  public func isDirectoryLocked(_ path: String) throws(Errno) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .current }
    let device = UInt64(status.st_dev)
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    let place = "\(twoHexDigits(major)):\(twoHexDigits(minor)):\(status.st_ino)"
    // "7: FLOCK  ADVISORY  WRITE 4711 fd:01:131 0 EOF"; who only waits for a lock has "->" in front of its kind.
    return try allLocks().split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count >= 6 && words[1] == "FLOCK" && words[5] == place
    }
  }

  private func allLocks() throws(Errno) -> String {
    let file = Glibc.open("/proc/locks", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .current }
    defer { _ = Glibc.close(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count == 0 { return String(decoding: text, as: UTF8.self) }
      guard count > 0 else {
        let failure = Errno.current
        if failure.rawValue == EINTR { continue }
        throw failure
      }
      text += chunk[0..<count]
    }
  }

  private func twoHexDigits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return digits.count < 2 ? "0" + digits : digits
  }
}
