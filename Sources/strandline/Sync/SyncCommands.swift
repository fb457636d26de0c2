/// `strandline sync`: a round by itself, and what belongs to a client beside it.
enum SyncCommands {
  static let group = CommandGroup(
    name: SyncCommand.specification.name,
    summary: SyncCommand.specification.summary,
    members: [
      .command(SyncInit.self), .command(SyncPut.self), .command(SyncDelete.self), .command(SyncStatus.self),
      .command(SyncRejections.self), .command(SyncOverwrites.self), .command(SyncDeadLetters.self),
      .command(SyncResets.self), .command(SyncReset.self),
    ], fallback: SyncCommand.self)
}
