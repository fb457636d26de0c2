import Glibc
import Strandline
import StrandlineLog

/// Holds a view across a reset.
enum ViewChapter: TourChapter {
  static let title = "Look back across a reset"

  static func run(_ tour: Tour) throws {
    let store = try tour.openTables()
    var view: ReadView? = try store.view()
    let digest = try view.map { try TableDigest.of($0) }
    let count = try view?.query("entries").count() ?? 0
    let before = try DirectoryTree.byteCount(tour.tables)
    let voided = try store.statistics().log.lastOrdinal
    let report = try store.reset()
    tour.figures.tables.resetNanoseconds = Int(report.nanoseconds)
    tour.figures.tables.pinnedByteCount = Int(try store.statistics().pinnedByteCount)
    let time = HumanUnits.duration(nanoseconds: Double(report.nanoseconds))
    try tour.narrator.say(
      "We hold a view and reset the store: one record, \(time), though \(HumanUnits.count(report.voidedVersionCount)) versions "
        + "become void. The tables stay declared. `strandline stat` calls the layers that the view still reads pinned.")
    for table in ["packages", "entries", "bugs"] {
      try TourProof.require(try store.view().query(table).count() == 0, "table \(table) is not empty after the reset")
    }
    try TourProof.require(try view.map { try TableDigest.of($0) } == digest, "the view changed under the reset")
    try tour.proved(
      "The tables are empty, and the view of before still reads all \(HumanUnits.count(count)) entries and the rest, cell by cell as "
        + "they were.")

    view = nil
    let patience = ContinuousClock.now.advanced(by: .seconds(10))
    // Files go away in the background; what is written before that would keep the last segment.
    while try store.statistics().log.firstLiveOrdinal <= voided, ContinuousClock.now < patience { usleep(1000) }
    try TourProof.require(try store.statistics().pinnedByteCount == 0, "layers stay pinned though no view is held")
    try store.write { (transaction: inout Transaction) throws(StoreError) in
      _ = try transaction.put(["name": "first", "uploads": 1], into: "packages")
    }
    try store.close()
    let again = try tour.openTables()
    try TourProof.require(
      try again.view().query("packages").count() == 1, "what was written behind the reset is not there alone")
    try again.close()
    let after = try DirectoryTree.byteCount(tour.tables)
    try TourProof.require(after < before, "the store did not become smaller: \(before) bytes, then \(after)")
    tour.figures.tables.emptiedByteCount = after
    try tour.proved(
      "With the view gone nothing is pinned any more, the directory went from \(HumanUnits.bytes(before)) to \(HumanUnits.bytes(after)), "
        + "and opening again shows what was written since and nothing else.")
  }
}
