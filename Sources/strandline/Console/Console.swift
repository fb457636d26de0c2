import Glibc

/// The two streams of a command and what their ends can show.
///
/// Data goes to ``out``. Notes, errors and progress go to standard error by ``note(_:)`` and ``ProgressBar``.
final class Console {
  let out: Output
  let err: Output
  /// Progress bars are drawn only then.
  let errIsTerminal: Bool
  /// Whether ``styled(_:_:)`` styles.
  let usesColor: Bool
  /// What the shell is told if nobody reads to the end: the gravest of what was said before.
  private(set) var verdict = ExitCode.success

  init(out: Output, err: Output, errIsTerminal: Bool = false, usesColor: Bool = false) {
    self.out = out
    self.err = err
    self.errIsTerminal = errIsTerminal
    self.usesColor = usesColor
  }

  /// The process's own streams. Colour only on a terminal that can, and never with `NO_COLOR`.
  static func standard() -> Console {
    let term = environmentValue("TERM") ?? ""
    let mayColor = environmentValue("NO_COLOR") == nil && !term.isEmpty && term != "dumb"
    return Console(
      out: Output(descriptor: STDOUT_FILENO), err: Output(descriptor: STDERR_FILENO),
      errIsTerminal: isatty(STDERR_FILENO) == 1, usesColor: mayColor && isatty(STDOUT_FILENO) == 1)
  }

  /// A line on standard error. Data written before it goes out first, so the two stay in order on a terminal.
  /// Standard error that takes no bytes is no reason to stop.
  func note(_ line: String) {
    try? out.flush()
    try? err.write(line + "\n")
    try? err.flush()
  }

  /// Keeps `code` for an end that comes early.
  func settle(_ code: ExitCode) { verdict = verdict.worst(code) }

  /// A line on standard output.
  func print(_ line: String) throws(OutputError) { try out.write(line + "\n") }

  /// `text` in a style on a terminal, else as it is.
  func styled(_ style: TextStyle, _ text: String) -> String {
    usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// A variable that is set and not empty.
  static func environmentValue(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}

/// Styles that every terminal knows; the raw value is the SGR number.
enum TextStyle: Int {
  case bold = 1
  case dim = 2
  case red = 31
  case green = 32
  case yellow = 33
}
