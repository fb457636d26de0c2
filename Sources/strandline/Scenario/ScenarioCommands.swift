/// `strandline scenario`: the sync protocol as executable cases.
enum ScenarioCommands {
  static let group = CommandGroup(
    name: "scenario",
    summary: "Run scenario files of the sync protocol against the client and the server.",
    members: [.command(ScenarioRun.self)])
}
