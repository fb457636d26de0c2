/// `merge.*`: the server's changes into a loaded store with an outbox.
///
/// For each change: read the row, look for a local change that waits, take the fields that are newer, write the row; if
/// one waits and a field was taken it is a conflict, and the waiting change is written again on top of the new row.
struct Merge: StoreWork {
  /// nil: all in one commit, as a pull that closes.
  var changesPerCommit: Int? = 1000

  func prepare(_ stage: EngineStage) throws { _ = try stage.loaded() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.loaded()
    let changes = RowBatch(indices: Self.changedRows(stage), version: 1)
    return try stage.site.withCopy(of: path) { copy in
      let written = WrittenBytes()
      let engine = try stage.open(copy)
      let step = changesPerCommit ?? changes.count
      let worker = MergeWorker()
      let begun = monotonicNanoseconds()
      for start in stride(from: 0, to: changes.count, by: step) {
        try engine.commit { transaction in
          for place in start..<min(start + step, changes.count) { try worker.merge(changes[place], transaction) }
        }
      }
      let seconds = seconds(since: begun)
      var sample = Sample(rows: changes.count, seconds: seconds, resultHash: nil)
      sample[.operationsPerSecond] = Double(changes.count) / seconds
      sample.addPeakResident(held: changes.byteCount)
      sample.resultHash = try StoreState(engine).hash &+ SplitMix64.mix(UInt64(worker.conflictCount))
      try engine.close()
      written.add(to: &sample, logical: changes.byteCount)
      guard worker.conflictCount > 0 || changes.count < 1000 else {
        throw BenchmarkError.finding("\(stage.kind.name.text): no conflict was met")
      }
      return sample
    }
  }

  /// One row in ten; three in five of those with a local change are among them.
  private static func changedRows(_ stage: EngineStage) -> [Int] {
    let order = RowOrder.shuffled(stage.rowCount, seed: 7)
    let first = stage.pendingCount * 2 / 5
    var random = SplitMix64(state: 41)
    return order[first..<first + stage.rowCount / 10].shuffled(using: &random)
  }
}

/// The decision and its memory.
private final class MergeWorker {
  private let stored = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
  private let waiting = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
  private let merged = UnsafeMutableRawPointer.allocate(byteCount: RowGenerator.rowByteCountMax, alignment: 8)
  private(set) var conflictCount = 0

  deinit {
    stored.deallocate()
    waiting.deallocate()
    merged.deallocate()
  }

  func merge(_ change: UnsafeRawBufferPointer, _ transaction: any EngineTransaction) throws {
    let key = change.baseAddress!
    merged.copyMemory(from: key, byteCount: change.count)
    var isNewer = false
    if try transaction.read(key, into: stored) != nil {
      for field in 0..<6 {
        let offset = RowGenerator.fieldVersionsOffset + 4 * field
        let theirs = (key + offset).loadUnaligned(as: UInt32.self)
        let ours = (stored + offset - RowBytes.keyByteCount).loadUnaligned(as: UInt32.self)
        if theirs > ours { isNewer = true } else { merged.storeBytes(of: ours, toByteOffset: offset, as: UInt32.self) }
      }
    }
    if let pending = try transaction.pending(key, into: waiting), isNewer {
      conflictCount += 1
      // The waiting change now stands on the server's version.
      let version = (key + RowGenerator.versionOffset).loadUnaligned(as: UInt64.self)
      waiting.storeBytes(of: version, as: UInt64.self)
      try transaction.putPending(
        key, sequence: pending.sequence, change: UnsafeRawBufferPointer(start: waiting, count: pending.byteCount))
    }
    try transaction.put(UnsafeRawBufferPointer(start: merged, count: change.count))
  }
}
