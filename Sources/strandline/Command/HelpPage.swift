/// The text behind `--help`.
enum HelpPage {
  static func text(of group: CommandGroup, path: [String]) -> String {
    let name = path.joined(separator: " ")
    let rows = group.members.filter { !$0.isHidden }.map { ($0.name, $0.summary) }
    var text =
      group.fallback.map { self.text(of: $0.specification, path: path) }
      ?? "\(group.summary)\n\nUsage: \(name) COMMAND …\n"
    text += "\nCommands:\n" + table(rows)
    text += "\n`\(name) COMMAND --help` tells more about one of them.\n"
    if path.count == 1 { text += exitCodes }
    return text
  }

  static func text(of command: CommandSpecification, path: [String]) -> String {
    var text = "\(command.summary)\n\nUsage: \(path.joined(separator: " "))"
    for positional in command.positionals { text += " " + usage(of: positional) }
    for option in command.options where option.isRequired { text += " \(signature(of: option))\(dots(option))" }
    for option in command.options where !option.isRequired { text += " [\(signature(of: option))]\(dots(option))" }
    text += "\n"
    if !command.discussion.isEmpty { text += "\n" + command.discussion.joined(separator: "\n") + "\n" }
    if !command.positionals.isEmpty {
      text += "\nArguments:\n" + table(command.positionals.map { ($0.name, $0.summary) })
    }
    let options = command.options.map { (signature(of: $0), $0.summary) } + [("--help", "Print this page.")]
    return text + "\nOptions:\n" + table(options)
  }

  private static let exitCodes = """

    Exit codes: 0 fine, 1 finding (torn tail, gap, difference, failed case), 2 usage,
    3 corruption or foreign file, 4 I/O error, or a server that was not reached or refused, 5 in use, 130 interrupted.

    """

  private static func signature(of option: CommandSpecification.Option) -> String {
    option.valueName.map { "\(option.name) \($0)" } ?? option.name
  }

  private static func dots(_ option: CommandSpecification.Option) -> String { option.isRepeatable ? "…" : "" }

  private static func usage(of positional: CommandSpecification.Positional) -> String {
    switch positional.arity {
    case .required: positional.name
    case .optional: "[\(positional.name)]"
    case .oneOrMore: "\(positional.name)…"
    }
  }

  /// Two columns; the second starts behind the longest first.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { name, summary in
      "  \(name)\(String(repeating: " ", count: width - name.count))  \(summary)\n"
    }.joined()
  }
}
