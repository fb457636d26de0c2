/// Finds the data: nothing made up, whatever this machine has.
enum CollectChapter: TourChapter {
  static let title = "Collect a history"

  static func run(_ tour: Tour) throws {
    let bar = ProgressBar("   reading changelogs", total: nil, console: tour.console)
    guard let (history, uploads) = TourHistory.collect(progress: { done, total in bar.update(done, of: total) }) else {
      bar.finish()
      throw Failure(
        .ioFailure,
        "this machine has neither changelogs in \(ChangelogLibrary.standardDirectory) nor a list of packages in "
          + "\(InstalledPackages.standardDirectory); the tour needs a Debian system for its data")
    }
    bar.finish()
    tour.history = history
    tour.uploads = uploads
    tour.figures.entryCount = history.entryCount
    tour.figures.commitCount = history.commits.count
    tour.figures.rawByteCount = history.byteCount

    let entries = HumanUnits.count(uploads.entryCount)
    let years = [history.dates.lowerBound, history.dates.upperBound].map { UTCTime.text(seconds: $0 / 1000).prefix(4) }
    switch history.source {
    case .changelogs:
      try tour.narrator.say(
        "Debian packages document their uploads. The \(HumanUnits.count(history.fileCount)) changelogs on this machine tell of "
          + "\(entries) uploads, from \(years[0]) to \(years[1]).")
      if history.skippedEntryCount + history.skippedFileCount > 0 {
        try tour.narrator.say(
          "(\(HumanUnits.count(history.skippedEntryCount)) entries and \(history.skippedFileCount) files are malformed and "
            + "were left out.)")
      }
    case .packageList:
      try tour.narrator.say(
        "There are hardly any changelogs in \(ChangelogLibrary.standardDirectory), as is usual in containers. The list of installed "
          + "packages has to do: \(entries) entries.")
    }
    try tour.narrator.say(
      "For the log the newest \(HumanUnits.count(history.commits.count)) of them become one commit each, "
        + "\(HumanUnits.bytes(history.byteCount)) as JSON: after a crash all of a commit is there, or nothing of it.")
  }
}
