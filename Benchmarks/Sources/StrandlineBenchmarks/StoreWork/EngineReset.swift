/// `reset.1M`, `reset.10M`: voiding a loaded store and its outbox, beside 200 one-row commits right before it.
struct EngineReset: StoreWork {
  private static let commitCount = 200

  func prepare(_ stage: EngineStage) throws { _ = try stage.loaded() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.loaded()
    return try stage.site.withCopy(of: path) { copy in
      let engine = try stage.open(copy)
      let commits = min(Self.commitCount, max(1, stage.rowCount / 20))
      let rows = RowBatch(indices: RowOrder.draws(commits, from: 0..<stage.rowCount, seed: 31), version: 1)
      let latencies = try commitEach(rows, to: engine)
      var sample = Sample()
      sample.addLatencies(latencies)
      sample[.onDiskBefore] = Double(try byteCount(under: copy))

      let begun = monotonicNanoseconds()
      try engine.reset()
      let seconds = seconds(since: begun)
      sample[.onDisk] = Double(try byteCount(under: copy))
      let emptied = try StoreState(engine)
      guard emptied.rowCount == 0, emptied.outboxCount == 0 else {
        throw BenchmarkError.finding("\(stage.kind.name.text): rows are left after a reset")
      }
      // No peer gives space back by itself.
      let compacted = monotonicNanoseconds()
      try engine.compact()
      sample[.spaceGivenBack] = seconds + StrandlineBenchmarks.seconds(since: compacted)
      sample[.onDiskAfterCompaction] = Double(try byteCount(under: copy))
      try engine.close()

      sample[.seconds] = seconds
      if let commit = sample[.p50] { sample[.ratio] = commit / seconds }
      sample.resultHash = emptied.hash
      return sample
    }
  }
}

/// One durable commit a row, by this thread; the latency of each.
func commitEach(_ rows: RowBatch, to engine: any StoreEngine) throws -> [UInt64] {
  try (0..<rows.count).map { place in
    let begun = monotonicNanoseconds()
    try engine.commit { transaction in try transaction.put(rows[place]) }
    return monotonicNanoseconds() - begun
  }
}
