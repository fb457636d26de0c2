import Glibc

/// The question in front of what cannot be undone.
enum Confirmation {
  static let option = CommandSpecification.Option(
    "--yes", summary: "Do not ask. Needed where standard input is no terminal.")

  /// Asks on the terminal unless `isGiven`.
  ///
  /// - Throws: ``Failure`` if the answer is no, or nobody can be asked.
  static func require(_ isGiven: Bool, _ question: String, _ console: Console) throws(Failure) {
    if isGiven { return }
    guard isatty(STDIN_FILENO) == 1, console.errIsTerminal else {
      throw Failure(.usage, "\(question) Standard input is no terminal to ask on: say --yes. Nothing was changed.")
    }
    try? console.out.flush()
    try? console.err.write("\(TerminalText.escaped(question)) [y/N] ")
    try? console.err.flush()
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.finding, "nothing was changed")
    }
  }
}
