/// `strandline import`: data of other kinds as tables.
enum ImportCommands {
  static let group = CommandGroup(
    name: "import", summary: "Bring data of other kinds into tables.", members: [.command(ImportChangelogs.self)])
}
