/// Finds the command that the words name, runs it, and turns whatever happens into an exit code.
struct CommandRunner {
  var root: CommandGroup
  var version: String

  func run(_ words: [String], console: Console) -> ExitCode {
    var path = [root.name]
    let code: ExitCode
    do {
      code = try dispatch(words, console, &path)
      console.settle(code)
      try console.out.flush()
    } catch OutputError.closedPipe {
      // Who reads no further knows no less than what was said.
      return console.verdict
    } catch {
      // What was written before the error is data: it goes out first, unless nobody reads any more.
      if !(error is OutputError) { try? console.out.flush() }
      let (failed, message) = Failure.outcome(of: error)
      if let message {
        let hint = error is UsageError ? " (see `\(path.joined(separator: " ")) --help`)" : ""
        console.note("\(path.joined(separator: " ")): \(TerminalText.escaped(message))\(hint)")
      }
      return failed
    }
    return code
  }

  private func dispatch(_ words: [String], _ console: Console, _ path: inout [String]) throws -> ExitCode {
    var group = root
    var rest = words[...]
    while let word = rest.popFirst() {
      // `help log append` is `log append --help`.
      if word == "help", rest.last != "--help" {
        rest.append("--help")
        continue
      }
      if word == "--help" || word == "-h" {
        try console.out.write(HelpPage.text(of: group, path: path))
        return .success
      }
      if word == "--version", path.count == 1 {
        try console.out.write("\(root.name) \(version)\n")
        return .success
      }
      guard let member = group.member(named: word) else {
        if let command = group.fallback { return try run(command, [word] + rest, console, path, help: group) }
        if word.hasPrefix("-") { throw UsageError.unknownOption(word, suggestion: nil) }
        let names = group.members.filter { !$0.isHidden }.map(\.name)
        // One of the tool's own, said behind a group.
        let own = path.count > 1 && root.member(named: word) != nil ? "\(root.name) \(word)" : nil
        throw UsageError.unknownCommand(word, suggestion: own ?? Suggestion.nearest(to: word, in: names))
      }
      path.append(word)
      switch member {
      case .group(let inner): group = inner
      case .command(let command): return try run(command, Array(rest), console, path)
      }
    }
    if let command = group.fallback { return try run(command, [], console, path, help: group) }
    throw UsageError.missingCommand(after: path.joined(separator: " "))
  }

  private func run(
    _ type: any Command.Type, _ words: [String], _ console: Console, _ path: [String], help group: CommandGroup? = nil
  ) throws -> ExitCode {
    let options = words.prefix { $0 != "--" }
    if options.contains("--help") || options.contains("-h") {
      let page = group.map { HelpPage.text(of: $0, path: path) } ?? HelpPage.text(of: type.specification, path: path)
      try console.out.write(page)
      return .success
    }
    let command = try type.init(Arguments(parsing: words, for: type.specification))
    return try command.run(console)
  }
}
