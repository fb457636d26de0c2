internal import Glibc

/// Standard output and standard error, unbuffered: what a killed process printed is there.
enum Output {
  static func line(_ text: String) { write(text + "\n", to: 1) }
  static func note(_ text: String) { write(text + "\n", to: 2) }

  /// Notes that stand for progress, on a terminal only and on one line.
  static func progress(_ text: String) {
    guard isatty(2) == 1 else { return }
    write("\r\u{1B}[2K\(text)", to: 2)
  }

  static func endProgress() {
    guard isatty(2) == 1 else { return }
    write("\r\u{1B}[2K", to: 2)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        done += count
      }
    }
  }
}
