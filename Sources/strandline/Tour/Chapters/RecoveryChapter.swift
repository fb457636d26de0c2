import StrandlineLog

/// Writes the rest, kills the writer once more, and measures how long it takes to have everything back.
enum RecoveryChapter: TourChapter {
  static let title = "Finish the load, and measure recovery"

  static func run(_ tour: Tour) throws {
    let total = tour.history.commits.count
    let before = tour.writtenCount
    if before < total {
      let bar = ProgressBar("   writing", total: total, console: tour.console)
      let run = try WriterProcess.run(
        tool: tour.tool, store: tour.store, commits: tour.history.commits[before...], killAfter: total - before,
        heard: { bar.update(before + $0) })
      bar.finish()
      tour.figures.commitNanoseconds += run.acknowledgements.map(\.nanoseconds)
      tour.figures.killCount += 1
      tour.figures.acknowledgedCommitCount += run.acknowledgements.count
      try TourProof.require(
        before + run.acknowledgements.count == total, "the writer stopped early: \(run.ending)")
    }
    try tour.narrator.say(
      "The writer appends the remaining \(HumanUnits.count(total - before)) commits and is killed right behind the last "
        + "acknowledgement, so the log was never closed in order.")
    let report = try tour.reopen(acknowledged: total)
    tour.figures.recoveryNanoseconds = Int(report.nanoseconds)
    tour.figures.recoveredEntryCount = report.recordCount
    tour.figures.storedByteCount = Int(report.storedByteCount)
    try TourProof.require(
      report.recordCount == tour.history.entryCount,
      "\(report.recordCount) entries were recovered, \(tour.history.entryCount) written")
    let time = HumanUnits.duration(nanoseconds: Double(report.nanoseconds))
    try tour.proved(
      "All \(HumanUnits.count(report.recordCount)) entries were read, verified and decoded again in \(time), and are equal "
        + "to what was collected.")
  }
}
