import Strandline
import StrandlineLog

/// Keeps the uploads as tables.
enum ImportChapter: TourChapter {
  static let title = "Keep it as tables"

  static func run(_ tour: Tour) throws {
    try tour.narrator.say(
      "Now a store with tables, folded from such a log: `packages`, the `entries` of their changelogs, and the `bugs` that these "
        + "closed, with six secondary indexes. All \(HumanUnits.count(tour.uploads.entryCount)) uploads go in, those of one moment as "
        + "one commit, with its date as metadata.")
    let bar = ProgressBar("   importing", total: tour.uploads.moments.count, console: tour.console)
    let (store, counts) = try write(tour, bar)
    bar.finish()
    let view = try store.view()
    let expected = Expected(tour.uploads)
    try TourProof.require(counts.entries == expected.entries.count, "\(counts.entries) entries were written")
    let packages = try view.query("packages").count()
    let bugs = try view.query("bugs").count()
    try TourProof.require(try view.query("entries").count() == counts.entries, "entries are missing")
    try TourProof.require(packages == expected.packages.count, "packages are missing")
    try TourProof.require(bugs == expected.bugs.count, "\(bugs) bugs are there, \(expected.bugs.count) were closed")
    try store.close()

    tour.figures.tables.entryCount = counts.entries
    tour.figures.tables.commitCount = counts.commits
    tour.figures.tables.packageCount = packages
    tour.figures.tables.bugCount = bugs
    tour.figures.tables.importedByteCount = try DirectoryTree.byteCount(tour.tables)
    let repeated = tour.uploads.entryCount - counts.entries
    let twice = repeated > 0 ? " (\(HumanUnits.count(repeated)) uploads tell of a version that is there already)" : ""
    let time = HumanUnits.duration(nanoseconds: Double(tour.figures.tables.importNanoseconds))
    try tour.proved(
      "\(HumanUnits.count(counts.entries)) entries\(twice), \(HumanUnits.count(packages)) packages and \(HumanUnits.count(bugs)) bugs are "
        + "there, in \(HumanUnits.count(counts.commits)) commits, after \(time).")
  }

  private static func write(_ tour: Tour, _ bar: ProgressBar) throws -> (Store, ChangelogTables.Counts) {
    // All history is kept, for the chapter that drops it.
    let store = try tour.openTables(history: .commits(.max), schema: ChangelogTables.schema)
    let (counts, nanoseconds) = try Stopwatch.time {
      let counts = try ChangelogTables.write(tour.uploads.moments, to: store, durability: .buffered) { done in
        bar.update(done)
        try Interruption.check()
      }
      try store.sync()
      return counts
    }
    tour.figures.tables.importNanoseconds = nanoseconds
    return (store, counts)
  }

  /// What must be there: one entry for each version of a package, one row for each bug that it closed.
  private struct Expected {
    var packages: Set<String> = []
    var entries: Set<String> = []
    var bugs: Set<String> = []

    init(_ uploads: ChangelogUploads) {
      for entry in uploads.moments.lazy.flatMap(\.entries) {
        packages.insert(entry.package)
        guard entries.insert("\(entry.package) \(entry.version)").inserted else { continue }
        for bug in entry.closedBugs { bugs.insert("\(bug) \(entry.package)") }
      }
    }
  }
}
