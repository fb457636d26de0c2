internal import Glibc

/// One word behind `strandline-bench` and what it does.
struct Command: Sendable {
  var name: String
  /// The arguments, as `--help` shows them.
  var arguments: String
  var summary: String
  /// What `--help` says below the first line.
  var details: String = ""
  /// Started by the bench itself, not by people.
  var isHidden = false
  /// The words behind the name; the exit code.
  var run: @Sendable ([String]) throws -> Int32

  static let all: [Command] = [
    ListCommand.command, RunCommand.command, ReportCommand.command, SoakCommand.command, SampleCommand.command,
    KillWriter.command,
  ]
}

/// Runs the command that `arguments` (without the program's name) ask for, and returns the exit code.
public func runBench(_ arguments: [String]) -> Int32 {
  do {
    guard let name = arguments.first else { throw BenchmarkError.usage("a command is missing") }
    if name == "--help" || name == "help" || name == "-h" {
      printHelp()
      return 0
    }
    guard let command = Command.all.first(where: { $0.name == name }) else {
      throw BenchmarkError.usage("there is no command '\(name)'")
    }
    let rest = Array(arguments.dropFirst())
    if rest.contains("--help") || rest.contains("-h") {
      printHelp(command)
      return 0
    }
    return try command.run(rest)
  } catch {
    Output.endProgress()
    Output.note("strandline-bench: \(message(error))")
    return exitCode(error)
  }
}

private func printHelp() {
  Output.line("Measures Strandline beside other storage engines, a log loop in C and the bare system calls.\n")
  Output.line("usage: strandline-bench COMMAND [ARGUMENTS]\n")
  let shown = Command.all.filter { !$0.isHidden }
  let width = shown.map(\.name.count).max() ?? 0
  for command in shown {
    Output.line("  \(command.name)\(String(repeating: " ", count: width - command.name.count))   \(command.summary)")
  }
  Output.line("\n'strandline-bench COMMAND --help' says more. Exit codes: 0 fine, 1 finding, 2 usage, 4 I/O error.")
}

private func printHelp(_ command: Command) {
  Output.line("usage: strandline-bench \(command.name) \(command.arguments)\n")
  Output.line(command.summary)
  if !command.details.isEmpty { Output.line("\n\(command.details)") }
}

private func message(_ error: any Error) -> String {
  switch error {
  case BenchmarkError.usage(let text): "\(text) (see --help)"
  case BenchmarkError.finding(let text), BenchmarkError.failed(let text): text
  case BenchmarkError.ioFailed(let operation, let path, let code):
    "cannot \(operation) \(path): \(String(cString: strerror(code)))"
  default: "\(error)"
  }
}

private func exitCode(_ error: any Error) -> Int32 {
  switch error {
  case BenchmarkError.usage: 2
  case BenchmarkError.finding: 1
  default: 4
  }
}
