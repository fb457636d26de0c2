/// Tells the tour: numbered steps, plain sentences, what was proved.
///
/// On standard output, or on standard error where standard output belongs to a JSON document.
final class Narrator {
  private static let width = 96
  private static let indentation = "   "

  private let console: Console
  private let speaksOnError: Bool
  private var stepCount = 0

  init(console: Console, speaksOnError: Bool) {
    self.console = console
    self.speaksOnError = speaksOnError
  }

  /// A line as it is.
  func line(_ text: String) throws {
    if speaksOnError {
      console.note(text)
    } else {
      try console.print(text)
      // People watch: what was said is on the screen before the next piece of work begins.
      try console.out.flush()
    }
  }

  func step(_ title: String) throws {
    stepCount += 1
    try line("")
    try line(styled(.bold, "\(stepCount). \(title)"))
  }

  /// A paragraph.
  func say(_ text: String) throws {
    for line in Self.wrapped(text, width: Self.width - Self.indentation.count) {
      try self.line(Self.indentation + line)
    }
  }

  /// Something that was checked and is so.
  func proved(_ text: String) throws {
    let lines = Self.wrapped(text, width: Self.width - Self.indentation.count - 2)
    for (index, line) in lines.enumerated() {
      try self.line(Self.indentation + (index == 0 ? styled(.green, "✓") : " ") + " " + line)
    }
  }

  /// What a tool said, word for word.
  func quote(_ text: String) throws {
    for line in Self.wrapped(TerminalText.escaped(text), width: Self.width - Self.indentation.count - 2) {
      try self.line(Self.indentation + styled(.dim, "| " + line))
    }
  }

  func table(_ rows: [(name: String, value: String)]) throws {
    let width = rows.map(\.name.count).max() ?? 0
    for (name, value) in rows {
      try line("\(Self.indentation)\(name)\(String(repeating: " ", count: width - name.count))  \(value)")
    }
  }

  private func styled(_ style: TextStyle, _ text: String) -> String {
    speaksOnError ? text : console.styled(style, text)
  }

  /// Breaks at blanks; a word that is longer than a line stays whole.
  static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
