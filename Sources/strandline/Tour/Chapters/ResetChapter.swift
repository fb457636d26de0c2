import Glibc
import StrandlineLog

/// Empties the store with one record.
enum ResetChapter: TourChapter {
  static let title = "Reset the log"

  static func run(_ tour: Tour) throws {
    let before = try DirectoryTree.byteCount(tour.store)
    let log = try Log.open(at: tour.store)
    let voided = log.status.lastOrdinal
    let started = ContinuousClock.now
    let report = try log.reset()
    let time = (ContinuousClock.now - started).components
    tour.figures.resetNanoseconds = Int(time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000)
    let count = HumanUnits.count(tour.history.commits.count)
    try tour.narrator.say(
      "Emptying the store is one more record in the log, whatever the store holds: \(count) commits were void after "
        + "\(HumanUnits.duration(nanoseconds: Double(tour.figures.resetNanoseconds))). The files go away behind it.")

    // A background thread moves on to a new segment and removes the old ones. What is appended before that would keep the last
    // of them, so give it time; it takes some milliseconds.
    let patience = ContinuousClock.now.advanced(by: .seconds(10))
    while log.status.firstLiveOrdinal <= voided, ContinuousClock.now < patience { usleep(1000) }
    try TourProof.require(log.status.firstLiveOrdinal > voided, "the segments in front of the reset are still there")

    let record = Array("the first record of a new beginning".utf8)
    let position = try log.append([record])
    let reader = try log.read()
    var found: [Commit] = []
    while let commit = try reader.next() {
      // The record of the reset itself may be there still, or gone with the files in front of it.
      if case .reset = commit.content { continue }
      found.append(commit)
    }
    try log.close()
    let again = try Log.open(at: tour.store)
    let epoch = again.status.epoch
    try again.close()

    let total = UInt64(tour.history.commits.count)
    try TourProof.require(
      found.map(\.records) == [[record]], "\(found.count) commits are there after the reset, not the one written since")
    try TourProof.require(
      report.position.sequence.rawValue == total + 1 && position.sequence.rawValue == total + 2,
      "sequence numbers did not go on: \(report.position.sequence), \(position.sequence)")
    try TourProof.require(epoch == 1, "the epoch is \(epoch), not 1")
    let after = try DirectoryTree.byteCount(tour.store)
    try TourProof.require(after < before, "the store did not become smaller: \(before) bytes, then \(after)")
    try tour.proved(
      "Only what was written after the reset is there; sequence numbers go on where they were; the directory went "
        + "from \(HumanUnits.bytes(before)) to \(HumanUnits.bytes(after)).")
  }
}
