@_spi(Engine) import StrandlineLog

/// Flips one bit of a confirmed commit in a copy of the store: verdict, and what can be saved.
enum DamageChapter: TourChapter {
  static let title = "Let one bit rot"

  static func run(_ tour: Tour) throws {
    let copy = "\(tour.directory)/damaged"
    try DirectoryTree.copy(tour.store, to: copy)
    let number = victim(in: tour.history)
    let place = try place(ofCommit: number, in: copy)
    let bit = Int.random(in: 0..<8)
    try FilePatch.flip(bit: bit, ofByte: place.offset, in: place.path)
    let bytes = try FilePatch.contents(of: place.path)
    try tour.narrator.say(
      "In a copy of the store we flip bit \(bit) of byte \(HumanUnits.count(place.offset)), in commit "
        + "\(HumanUnits.count(number)): as a worn disk does, without telling anyone. Opening the copy says:")
    try proveRefusal(copy, place, bytes, tour)
    try proveDiagnosis(copy, place, bit, tour)
    try proveSalvage(copy, number, tour)
  }

  /// The number of a commit in the middle that is so small that it is stored as it is.
  private static func victim(in history: TourHistory) -> UInt64 {
    let sizes = history.commits.map { $0.reduce(0) { $0 + $1.count } }
    let middle = sizes.count * 2 / 5
    let index =
      sizes[middle...].firstIndex { $0 < 4000 } ?? sizes.indices.min { sizes[$0] < sizes[$1] } ?? middle
    return UInt64(index + 1)
  }

  private struct Place {
    var path: String
    var offset: Int64
  }

  /// A byte in the middle of a commit's payload.
  private static func place(ofCommit number: UInt64, in store: String) throws -> Place {
    var options = LogOptions()
    options.access = .readOnly
    let log = try Log.open(at: store, options: options)
    defer { try? log.close() }
    let reader = try log.read()
    while let commit = try reader.next() {
      guard commit.position.sequence.rawValue == number else { continue }
      let segments = try StoreInspector(path: store).survey().live
      guard let segment = segments.last(where: { $0.header.map { $0.baseLSN <= commit.lsn } ?? false }),
        let header = segment.header
      else { break }
      var size = 0
      commit.forEachRecord { size += $0.count }
      let frame = Int64(commit.lsn.rawValue - header.baseLSN.rawValue)
      return Place(path: segment.path, offset: frame + Int64(FrameHeader.byteCount) + Int64(size / 2))
    }
    throw Failure(.finding, "NOT PROVED: commit \(number) is not in the copy")
  }

  private static func proveRefusal(_ copy: String, _ place: Place, _ bytes: [UInt8], _ tour: Tour) throws {
    do throws(LogError) {
      try Log.open(at: copy).close()
    } catch {
      guard case .corrupt(let report) = error else { throw error }
      try tour.narrator.quote("\(error)")
      try TourProof.require(report.file == place.path, "the damage was reported in \(report.file)")
      try TourProof.require(try FilePatch.contents(of: place.path) == bytes, "the damaged file was changed")
      try tour.proved("The store is refused rather than quietly shortened, and not a byte of it was changed.")
      return
    }
    throw Failure(.finding, "NOT PROVED: a store with a damaged commit was opened as if it were whole")
  }

  private static func proveDiagnosis(_ copy: String, _ place: Place, _ bit: Int, _ tour: Tour) throws {
    let findings = try StoreInspector(path: copy).verify().findings
    guard let found = findings.lazy.compactMap(\.flippedBit).first else {
      throw Failure(.finding, "NOT PROVED: the flipped bit was not found: \(findings.map(\.message))")
    }
    try TourProof.require(
      found.byte == Int(place.offset) && found.bit == bit, "the wrong bit was found: \(found)")
    try tour.proved(
      "`strandline log verify` names the very bit: it is the only one that, turned back, makes the checksum right.")
  }

  private static func proveSalvage(_ copy: String, _ number: UInt64, _ tour: Tour) throws {
    let target = "\(tour.directory)/salvaged"
    let report = try Salvage.run(from: copy, to: target)
    let log = try Log.open(at: target)
    let found = try TourProof.compare(log, with: tour.history, missing: number...number)
    try log.close()
    try TourProof.require(found == tour.history.commits.count, "salvage stops at commit \(found)")
    try TourProof.require(report.lostSequenceCount == 1, "\(report.lostSequenceCount) commits were lost, not 1")
    tour.figures.lostCommitCount = Int(report.lostSequenceCount)
    tour.figures.salvagedCommitCount = report.commitCount
    try tour.proved(
      "`strandline log salvage` saved the \(HumanUnits.count(report.commitCount)) other commits into a new store, equal to "
        + "the originals and under their own numbers, with a marked gap where the lost one was.")
  }
}
