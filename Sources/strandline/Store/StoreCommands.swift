/// The commands that work on the tables of a store.
enum StoreCommands {
  static let nodes: [CommandNode] = [
    .command(LoadCommand.self), .command(QueryCommand.self), .command(PutCommand.self), .command(GetCommand.self),
    .command(DeleteCommand.self), .command(HistoryCommand.self), .command(ChangesCommand.self),
    .command(StatCommand.self),
    .command(CompactCommand.self), .command(ResetCommand.self), .command(ResetsCommand.self),
    .command(BackupCommand.self),
    .group(ImportCommands.group),
  ]
}
