import Strandline
import StrandlineLog

/// Writes everything into one layer.
enum CompactChapter: TourChapter {
  static let title = "Compact"

  static func run(_ tour: Tour) throws {
    // Another writer than the one before: this one wants no history.
    let store = try tour.openTables()
    let before = try store.statistics()
    let digest = try TableDigest.of(store.view())
    let (_, nanoseconds) = try Stopwatch.time { try store.compact() }
    let after = try store.statistics()
    try TourProof.require(try TableDigest.of(store.view()) == digest, "compaction changed what is in the tables")
    try store.close()
    tour.figures.tables.compactNanoseconds = nanoseconds
    let bytes = try DirectoryTree.byteCount(tour.tables)
    tour.figures.tables.compactedByteCount = bytes
    let (again, opening) = try Stopwatch.time { try tour.openTables() }
    tour.figures.tables.compactedOpenNanoseconds = opening
    try TourProof.require(try TableDigest.of(again.view()) == digest, "opening again changed what is in the tables")
    try again.close()
    try tour.narrator.say(
      "Each upload has rewritten the row of its package. Compaction keeps what is needed and drops what was replaced: "
        + "\(HumanUnits.count(before.versionCount)) versions of rows and index entries become \(HumanUnits.count(after.versionCount)), in "
        + "\(HumanUnits.duration(nanoseconds: Double(nanoseconds))); the directory goes from "
        + "\(HumanUnits.bytes(tour.figures.tables.importedByteCount)) to \(HumanUnits.bytes(bytes)).")
    try tour.proved(
      "Every row reads as before, also after opening again, which now takes \(HumanUnits.duration(nanoseconds: Double(opening)))."
    )
  }
}

/// A number that stands for every cell of every row of all tables.
enum TableDigest {
  static func of(_ view: ReadView) throws -> Int {
    var hasher = Hasher()
    for table in view.tableNames {
      hasher.combine(table)
      let rows = try view.query(table).rows()
      while let row = try rows.next() { hasher.combine(row) }
    }
    return hasher.finalize()
  }
}
