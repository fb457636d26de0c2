import StrandlineLog

/// Kills the writer in mid-flight, three times, and compares what is left with what it had acknowledged.
enum KillChapter: TourChapter {
  static let title = "Write it as a log, and get killed on the way"

  private static let killCount = 3

  static func run(_ tour: Tour) throws {
    let total = tour.history.commits.count
    try tour.narrator.say(
      "A second process appends the commits. It acknowledges each one after a sync to the device, and not before. We "
        + "kill it with SIGKILL, which no process can catch, at \(killCount) moments that chance picks.")
    let bar = ProgressBar("   writing", total: total, console: tour.console)
    defer { bar.finish() }
    for round in 1...killCount {
      // Each round has its share of the first three quarters, and gets the kill somewhere in the middle of it.
      let before = tour.writtenCount
      let share = total * 3 / 4 / killCount
      let end = share * round
      let target = Int.random(in: max(before + 1, end - share)..<end)
      let run = try WriterProcess.run(
        tool: tour.tool, store: tour.store, commits: tour.history.commits[before..<end], killAfter: target - before,
        heard: { bar.update(before + $0) })
      bar.finish()
      try TourProof.require(run.ending == .killed(signal: 9), "the writer ended by itself: \(run.ending)")
      try TourProof.require(
        run.acknowledgements.map(\.sequence) == run.acknowledgements.indices.map { UInt64(before + $0 + 1) },
        "acknowledgements are out of order")
      let acknowledged = before + run.acknowledgements.count
      tour.figures.commitNanoseconds += run.acknowledgements.map(\.nanoseconds)
      tour.figures.killCount += 1
      tour.figures.acknowledgedCommitCount += run.acknowledgements.count
      let report = try tour.reopen(acknowledged: acknowledged)
      try tell(round, acknowledged, report, tour)
    }
  }

  private static func tell(_ round: Int, _ acknowledged: Int, _ report: OpenReport, _ tour: Tour) throws {
    let time = HumanUnits.duration(nanoseconds: Double(report.nanoseconds))
    var text =
      "Kill \(round): \(HumanUnits.count(acknowledged)) commits were acknowledged. Opened again in \(time): all of them are "
      + "there, in order, byte for byte"
    text +=
      tour.writtenCount > acknowledged
      ? "; so is one that was written and not yet acknowledged; nothing else." : "; nothing else."
    if report.cut != nil { text += " A commit that was written in part was cut." }
    try tour.proved(text)
  }
}
