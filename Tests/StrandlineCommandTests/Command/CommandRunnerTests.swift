import StrandlineLog
import Testing

@testable import strandline

struct CommandRunnerTests {
  private struct Echo: Command {
    static let specification = CommandSpecification(
      name: "echo", summary: "Says it again.", discussion: ["Only once."],
      positionals: [.init(name: "WORD", summary: "What to say.")],
      options: [.init("--times", "N", summary: "How often (default 1).")])

    let word: String
    let times: Int

    init(_ arguments: Arguments) throws(UsageError) {
      word = arguments.positional(0)
      times = try arguments.integer("--times", in: 0...9) ?? 1
    }

    func run(_ console: Console) throws -> ExitCode {
      for _ in 0..<times { try console.print(word) }
      switch word {
      case "corrupt": throw LogError.unsupportedFormat(file: "/x", detail: .notAStore)
      case "locked": throw LogError.locked(path: "/x", by: nil)
      case "absent": throw LogError.noStore(path: "/x")
      case "failure": throw Failure(.finding, "line one\nline two \u{1B}[31m")
      case "interrupted": throw Interrupted()
      case "pipe": throw OutputError.closedPipe
      default: return word == "finding" ? .finding : .success
      }
    }
  }

  private func run(_ words: String...) -> (code: ExitCode, out: String, err: String) {
    let root = CommandGroup(
      name: "tool", summary: "A tool.",
      members: [.group(CommandGroup(name: "inner", summary: "Inside.", members: [.command(Echo.self)]))])
    let console = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    let code = CommandRunner(root: root, version: "1.2.3").run(words, console: console)
    return (
      code, String(decoding: console.out.pending, as: UTF8.self), String(decoding: console.err.pending, as: UTF8.self)
    )
  }

  @Test func `a command two levels deep runs with its arguments`() {
    let result = run("inner", "echo", "hey", "--times", "2")
    #expect(result == (.success, "hey\nhey\n", ""))
  }

  @Test(arguments: [
    (["inner", "ecko", "a"], "tool inner: unknown command 'ecko'; did you mean 'echo'?"),
    (["outer"], "tool: unknown command 'outer'"),
    ([], "tool: 'tool' needs a command"),
    (["inner"], "tool inner: 'tool inner' needs a command"),
    (["--wrong"], "tool: unknown option '--wrong'"),
    (["inner", "echo"], "tool inner echo: WORD is missing"),
    (["inner", "echo", "a", "--times", "12"], "tool inner echo: --times '12' is not a whole number, 0 to 9"),
  ])
  func `a usage error is one line, exit code 2, and names the help page`(words: [String], line: String) {
    let root = CommandGroup(
      name: "tool", summary: "A tool.",
      members: [.group(CommandGroup(name: "inner", summary: "Inside.", members: [.command(Echo.self)]))])
    let console = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    #expect(CommandRunner(root: root, version: "1").run(words, console: console) == .usage)
    #expect(console.out.pending.isEmpty)
    let text = String(decoding: console.err.pending, as: UTF8.self)
    #expect(text.hasPrefix(line))
    #expect(text.hasSuffix(" --help`)\n"))
    #expect(text.split(separator: "\n").count == 1)
  }

  @Test func `every level has a help page`() {
    #expect(run("--help").out.contains("inner  Inside."))
    #expect(run("inner", "--help").out.contains("Usage: tool inner COMMAND"))
    let page = run("inner", "echo", "--help")
    #expect(page.code == .success)
    #expect(page.out.contains("Usage: tool inner echo WORD [--times N]\n\nOnly once.\n"))
    #expect(page.out.contains("  --times N  How often (default 1).\n  --help     Print this page.\n"))
    #expect(run("inner", "echo", "--", "--help").out == "--help\n")
    #expect(run("--version").out == "tool 1.2.3\n")
    #expect(run("help").out == run("--help").out)
    #expect(run("inner", "help").out == run("inner", "--help").out)
    #expect(run("help", "inner", "echo").out == page.out)
    #expect(run("inner", "help", "echo").out == page.out)
    #expect(run("help", "ecko").code == .usage)
  }

  @Test(arguments: [
    ("corrupt", ExitCode.corruption), ("locked", .inUse), ("absent", .ioFailure), ("finding", .finding),
  ])
  func `an outcome has its exit code and keeps what was printed before`(word: String, code: ExitCode) {
    let result = run("inner", "echo", word)
    #expect(result.code == code)
    #expect(result.out == word + "\n")
  }

  @Test func `messages stay on one line and carry no terminal escapes`() {
    #expect(run("inner", "echo", "failure").err == "tool inner echo: line one\\nline two \\x1b[31m\n")
  }

  @Test func `a closed pipe and an interruption end without a word`() {
    #expect(run("inner", "echo", "pipe").code == .success)
    #expect(run("inner", "echo", "pipe").err == "")
    #expect(run("inner", "echo", "interrupted").code == .interrupted)
    #expect(run("inner", "echo", "interrupted").err == "")
  }
}
