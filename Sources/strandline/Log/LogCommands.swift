/// `strandline log`: what works on the log of a store, without knowing what its records mean.
enum LogCommands {
  static let group = CommandGroup(
    name: "log",
    summary: "Look into the log of a store, append to it, check and salvage it.",
    members: [
      .command(LogInfo.self), .command(LogList.self), .command(LogEvents.self), .command(LogVerify.self),
      .command(LogTail.self), .command(LogHexdump.self), .command(LogGaps.self), .command(LogSalvage.self),
      .command(LogDiff.self), .command(LogAppend.self),
    ])
}
