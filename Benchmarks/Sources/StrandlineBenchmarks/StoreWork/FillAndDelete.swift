/// `dbbench.fillseq`, `.fillrandom`, `.overwrite`, `.deleterandom`: writes in durable commits of 1,000 by one thread.
struct BatchedWrites: StoreWork {
  enum Kind: Hashable, Sendable {
    case fillInOrder, fillAtRandom, overwrite, delete
  }

  let kind: Kind
  private static let rowsPerCommit = 1000

  var writesAtRandom: Bool { kind != .fillInOrder }

  private var startsEmpty: Bool { kind == .fillInOrder || kind == .fillAtRandom }

  func prepare(_ stage: EngineStage) throws {
    if !startsEmpty { _ = try stage.compacted() }
  }

  func sample(_ stage: EngineStage) throws -> Sample {
    guard startsEmpty else {
      let path = try stage.compacted()
      return try stage.site.withCopy(of: path) { copy in try write(copy, stage) }
    }
    return try stage.site.withEmptyDirectory { path in try write(path, stage) }
  }

  private func write(_ path: String, _ stage: EngineStage) throws -> Sample {
    let rows = try rows(stage)
    let written = WrittenBytes()
    let engine = try stage.open(path)
    var latencies: [UInt64] = []
    let begun = monotonicNanoseconds()
    for start in stride(from: 0, to: rows.count, by: Self.rowsPerCommit) {
      let committed = monotonicNanoseconds()
      try engine.commit { transaction in
        for place in start..<min(start + Self.rowsPerCommit, rows.count) {
          if kind == .delete { try transaction.delete(rows.key(place)) } else { try transaction.put(rows[place]) }
        }
      }
      latencies.append(monotonicNanoseconds() - committed)
    }
    let seconds = seconds(since: begun)
    var sample = Sample(rows: rows.count, seconds: seconds, resultHash: nil)
    sample[.operationsPerSecond] = Double(rows.count) / seconds
    sample.addLatencies(latencies)
    sample.addPeakResident(held: rows.byteCount)
    sample.resultHash = try StoreState(engine).hash
    try engine.close()
    written.add(to: &sample, logical: rows.byteCount)
    sample[.onDisk] = Double(try byteCount(under: path))
    return sample
  }

  private func rows(_ stage: EngineStage) throws -> RowBatch {
    let count = stage.rowCount
    switch kind {
    case .fillInOrder: return RowBatch(indices: RowOrder.byKey(CorpusCache.rows(count)))
    case .fillAtRandom: return RowBatch(indices: Array(0..<count))
    case .overwrite: return RowBatch(indices: RowOrder.draws(count / 2, from: 0..<count, seed: 61), version: 1)
    case .delete:
      return RowBatch(indices: Array(RowOrder.shuffled(count, seed: 62).prefix(count / 2)), keysOnly: true)
    }
  }
}

/// `dbbench.compact`: compacting a store that was filled at random and left alone.
struct CompactFilled: StoreWork {
  func prepare(_ stage: EngineStage) throws { _ = try stage.loaded() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.loaded()
    return try stage.site.withCopy(of: path) { copy in
      let engine = try stage.open(copy)
      var sample = Sample()
      sample[.onDiskBefore] = Double(try byteCount(under: copy))
      let begun = monotonicNanoseconds()
      try engine.compact()
      sample[.seconds] = seconds(since: begun)
      sample.addPeakResident()
      sample.resultHash = try StoreState(engine).hash
      try engine.close()
      sample[.onDisk] = Double(try byteCount(under: copy))
      return sample
    }
  }
}
