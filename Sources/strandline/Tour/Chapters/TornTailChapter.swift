@_spi(Engine) import StrandlineLog

/// Plays a power cut: half of a commit that nobody had confirmed never reaches the disk.
enum TornTailChapter: TourChapter {
  static let title = "Lose power in the middle of a commit"

  /// Commits of the history that make up the large one.
  private static let commitCount = 200

  static func run(_ tour: Tour) throws {
    let before = tour.writtenCount
    let large = tour.history.commits[before...].prefix(commitCount).flatMap { $0 }
    let run = try WriterProcess.run(
      tool: tour.tool, store: tour.store, commits: [large][...], options: ["--durability", "buffered"], killAfter: 1)
    try TourProof.require(run.ending == .killed(signal: 9), "the writer ended by itself: \(run.ending)")

    let inspector = try StoreInspector(path: tour.store)
    guard let tail = try inspector.condition().tail else { throw Failure(.finding, "NOT PROVED: the log has no tail") }
    let confirmed = tail.offset(of: tail.evidence.promise.lsn)
    let end = tail.verifiedEndOffset
    try TourProof.require(confirmed < end, "nothing unconfirmed is in the log")
    let middle = confirmed + (end - confirmed) / 2
    try FilePatch.zero(tail.path, middle..<end)
    try tour.narrator.say(
      "The writer puts \(HumanUnits.count(large.count)) entries into one commit of \(HumanUnits.bytes(end - confirmed)), is "
        + "told not to wait for a sync, and is killed. Then we play what a power cut does: the second half of those bytes "
        + "never reached the disk, and reads as zeros. `strandline log verify` would say:")
    let findings = try inspector.verify().findings.filter { $0.severity >= .finding }
    try TourProof.require(findings.map(\.code) == [.tornTail], "the verdict is not a torn tail: \(findings)")
    for finding in findings { try tour.narrator.quote("byte \(finding.offset ?? 0): \(finding.message)") }

    let report = try tour.reopen(acknowledged: before)
    try TourProof.require(report.cut != nil, "nothing was cut")
    try TourProof.require(tour.writtenCount == before, "part of an unfinished commit is in the log")
    tour.figures.cutByteCount = Int(end - confirmed)
    tour.figures.cutCommitCount = 1
    try tour.proved(
      "Opening cut the unfinished commit, all of it. The \(HumanUnits.count(before)) commits in front of it are there, byte "
        + "for byte; nothing else.")
  }
}
