internal import Synchronization

/// `compact.1M`: one row in ten written again in commits of 1,000, then the engine's compaction.
struct Compaction: StoreWork {
  func prepare(_ stage: EngineStage) throws { _ = try stage.loaded() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.loaded()
    let updates = Self.updates(stage)
    return try stage.site.withCopy(of: path) { copy in
      let engine = try stage.open(copy)
      let begun = monotonicNanoseconds()
      try Self.write(updates, to: engine)
      let updateSeconds = seconds(since: begun)
      var sample = Sample()
      sample[.updates] = Double(updates.count) / updateSeconds
      sample[.onDiskBefore] = Double(try byteCount(under: copy))

      let written = WrittenBytes()
      let compacted = monotonicNanoseconds()
      try engine.compact()
      sample[.seconds] = seconds(since: compacted)
      sample.addPeakResident(held: updates.byteCount)
      let state = try StoreState(engine)
      try engine.close()
      sample.resultHash = state.hash
      let onDisk = try byteCount(under: copy)
      sample[.onDisk] = Double(onDisk)
      // Rows are of two versions now; their mean length is the same. The outbox holds one in a hundred once more, with its key.
      let raw = Double(updates.byteCount) / Double(updates.count) * Double(stage.rowCount + stage.pendingCount)
      sample[.ofRaw] = Double(onDisk) / raw
      written.add(to: &sample, logical: Int(raw))
      return sample
    }
  }

  static func updates(_ stage: EngineStage) -> RowBatch {
    RowBatch(indices: Array(RowOrder.shuffled(stage.rowCount, seed: 51).prefix(stage.rowCount / 10)), version: 1)
  }

  static func write(_ rows: RowBatch, to engine: any StoreEngine, rowsPerCommit: Int = 1000) throws {
    for start in stride(from: 0, to: rows.count, by: rowsPerCommit) {
      try engine.commit { transaction in
        for place in start..<min(start + rowsPerCommit, rows.count) { try transaction.put(rows[place]) }
      }
    }
  }
}

/// `compact.1M.commitsBeside`: one-row durable commits of one thread while another compacts, and before it.
struct CommitsBesideCompaction: StoreWork {
  private static let idleCommitCount = 2000

  func prepare(_ stage: EngineStage) throws { _ = try stage.loaded() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.loaded()
    let updates = Compaction.updates(stage)
    return try stage.site.withCopy(of: path) { copy in
      let engine = try stage.open(copy)
      try Compaction.write(updates, to: engine)
      let idleCount = min(Self.idleCommitCount, stage.rowCount / 20)
      let rows = RowBatch(
        indices: RowOrder.draws(max(idleCount, min(stage.rowCount, 20_000)), from: 0..<stage.rowCount, seed: 52))
      let idleRows = RowBatch(indices: RowOrder.draws(idleCount, from: 0..<stage.rowCount, seed: 53))
      let idle = Percentiles(try commitEach(idleRows, to: engine))

      let shared = Shared()
      _ = try runThreads(2) { thread in
        if thread == 0 {
          defer { shared.isOver.store(true, ordering: .releasing) }
          let begun = monotonicNanoseconds()
          try engine.compact()
          shared.seconds = seconds(since: begun)
        } else {
          // At least one: a compaction may let none through until it is done.
          repeat {
            let begun = monotonicNanoseconds()
            let row = rows[shared.latencies.count % rows.count]
            try engine.commit { transaction in try transaction.put(row) }
            shared.latencies.append(monotonicNanoseconds() - begun)
          } while !shared.isOver.load(ordering: .acquiring)
        }
      }
      try engine.close()

      var sample = Sample()
      sample.addLatencies(shared.latencies)
      sample[.p50Idle] = idle[0.5]
      sample[.p99Idle] = idle[0.99]
      if let slow = sample[.p99] { sample[.p99OfIdle] = slow / idle[0.99] }
      sample[.compaction] = shared.seconds
      sample[.commitsPerSecond] = Double(shared.latencies.count) / shared.seconds
      return sample
    }
  }

  private final class Shared: @unchecked Sendable {
    // Sendable: plain properties have one thread each and are read behind the last join.
    let isOver = Atomic(false)
    var seconds = 0.0
    var latencies: [UInt64] = []
  }
}
