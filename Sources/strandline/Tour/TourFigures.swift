/// The numbers at the end of the tour. Chapters fill in theirs.
struct TourFigures {
  var entryCount = 0
  var commitCount = 0
  /// Bytes of the records.
  var rawByteCount = 0
  /// Bytes of the log that holds them, frame headers included.
  var storedByteCount = 0
  /// Of every acknowledged commit, in the order they came.
  var commitNanoseconds: [Int] = []
  var killCount = 0
  var acknowledgedCommitCount = 0
  /// Opening the whole history after a kill.
  var recoveryNanoseconds = 0
  var recoveredEntryCount = 0
  var cutByteCount = 0
  var cutCommitCount = 0
  var lostCommitCount = 0
  var salvagedCommitCount = 0
  var resetNanoseconds = 0
  var proofCount = 0
  var tables = TourTableFigures()
  var sync = TourSyncFigures()

  /// The value below which `percent` of the commits lie.
  func commitNanoseconds(percentile percent: Int) -> Int {
    guard !commitNanoseconds.isEmpty else { return 0 }
    let sorted = commitNanoseconds.sorted()
    return sorted[min(sorted.count - 1, sorted.count * percent / 100)]
  }

  private var recoverySeconds: Double { Double(max(recoveryNanoseconds, 1)) / 1e9 }

  var rows: [(name: String, value: String)] {
    func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }
    let ratio = HumanUnits.fixed(Double(storedByteCount) / Double(max(rawByteCount, 1)), decimals: 2)
    let entryRate = HumanUnits.rate(Double(recoveredEntryCount) / recoverySeconds, of: "entries")
    let byteRate = HumanUnits.bytes(Int(Double(storedByteCount) / recoverySeconds))
    return [
      ("entries in the log", HumanUnits.count(entryCount)),
      ("commits", HumanUnits.count(commitCount)),
      ("bytes raw", HumanUnits.bytes(rawByteCount)),
      ("bytes stored", "\(HumanUnits.bytes(storedByteCount)) (\(ratio) of raw)"),
      ("commit, p50", "\(time(commitNanoseconds(percentile: 50))), synced to the device"),
      ("commit, p99", time(commitNanoseconds(percentile: 99))),
      ("kills", "\(killCount), with \(HumanUnits.count(acknowledgedCommitCount)) commits acknowledged and none lost"),
      ("recovery", "\(time(recoveryNanoseconds)), \(entryRate), \(byteRate)/s"),
      ("cut", "\(cutCommitCount) unfinished commit, \(HumanUnits.bytes(cutByteCount)), never acknowledged"),
      ("one bit flipped", "\(lostCommitCount) commit lost, \(HumanUnits.count(salvagedCommitCount)) salvaged"),
      ("reset of the log", time(resetNanoseconds)),
    ] + tables.rows + sync.rows
  }

  func write(to json: inout JSONWriter, source: ChangelogUploads.Source) {
    json.object { json in
      json.field("schema", 1)
      json.field("source", source.rawValue)
      json.field("entries", entryCount)
      json.field("commits", commitCount)
      json.field("rawBytes", rawByteCount)
      json.field("storedBytes", storedByteCount)
      json.field("commitNanosecondsP50", commitNanoseconds(percentile: 50))
      json.field("commitNanosecondsP99", commitNanoseconds(percentile: 99))
      json.field("commitNanosecondsMax", commitNanoseconds.max() ?? 0)
      json.field("kills", killCount)
      json.field("acknowledgedCommits", acknowledgedCommitCount)
      json.field("acknowledgedCommitsLost", 0)
      json.field("recoveryNanoseconds", recoveryNanoseconds)
      json.field("recoveredEntriesPerSecond", Double(recoveredEntryCount) / recoverySeconds)
      json.field("recoveredBytesPerSecond", Double(storedByteCount) / recoverySeconds)
      json.field("cutBytes", cutByteCount)
      json.field("cutCommits", cutCommitCount)
      json.field("bitFlipCommitsLost", lostCommitCount)
      json.field("bitFlipCommitsSalvaged", salvagedCommitCount)
      json.field("resetNanoseconds", resetNanoseconds)
      json.name("tables")
      json.object { json in tables.write(to: &json) }
      json.name("sync")
      json.object { json in sync.write(to: &json) }
      json.field("proofs", proofCount)
    }
    json.endLine()
  }
}
