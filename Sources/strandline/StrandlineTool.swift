import Glibc

/// The executable: one call into the command tree, and its exit code handed to the shell.
///
/// Nothing else lives at the top level: closures written there would be bound to the main actor.
@main
enum StrandlineTool {
  static let root = CommandGroup(
    name: "strandline",
    summary: "An append-only event log and store: every change is one checksummed commit.",
    members: [
      .command(TourCommand.self)
    ] + StoreCommands.nodes + [
      .command(ServeCommand.self), .command(TokenCommand.self), .group(SyncCommands.group),
      .group(ScenarioCommands.group), .group(LogCommands.group), .command(TourWriter.self),
    ])

  static func main() {
    StandardStreams.occupyClosed()
    Interruption.install()
    let console = Console.standard()
    let runner = CommandRunner(root: root, version: version)
    let code: ExitCode
    do throws(UsageError) {
      code = runner.run(try ProgramArguments.all(), console: console)
    } catch {
      console.note("\(root.name): \(TerminalText.escaped(error.description))")
      code = .usage
    }
    exit(code.rawValue)
  }

  static let version = "0.1.0"
}
