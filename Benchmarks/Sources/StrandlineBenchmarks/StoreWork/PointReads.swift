internal import CReference
internal import Synchronization

/// `read.random.*`, `dbbench.readrandom`, `.readhot`, `.readmissing`: reads of single rows by one thread, each copied out
/// and its value hashed. A view is renewed every 1,000 reads.
struct PointReads: StoreWork {
  enum Keys: Hashable, Sendable {
    /// Any row.
    case present
    /// One row in a hundred, those that lie together at the first keys.
    case hot
    /// Keys that no row has.
    case missing
  }

  var keys = Keys.present
  /// Another thread writes rows again as they are, one a durable commit, all the time.
  var isBesideWriter = false

  private static let readsPerView = 1000

  var writesAtRandom: Bool { isBesideWriter }

  func prepare(_ stage: EngineStage) throws { _ = try stage.compacted() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.compacted()
    guard isBesideWriter else {
      try warmCache(under: path)
      return try read(path, stage)
    }
    return try stage.site.withCopy(of: path) { copy in try read(copy, stage) }
  }

  private func read(_ path: String, _ stage: EngineStage) throws -> Sample {
    let keys = RowBatch(indices: indices(stage.rowCount), keysOnly: true)
    let engine = try stage.open(path)
    let reader = try engine.reader()
    // Twice, so that caches hold what they can and nothing is left to be set up.
    try reader.scan(from: nil) { _, _ in true }
    _ = try Self.readAll(keys, reader)

    var commits = 0
    var latencies: [UInt64] = []
    let outcome: Outcome
    if isBesideWriter {
      (outcome, commits, latencies) = try readBesideWriter(keys, engine, stage)
    } else {
      outcome = try Self.readAll(keys, reader)
      latencies = try Self.latencies(keys, reader)
    }

    var sample = Sample()
    sample[.operationsPerSecond] = Double(keys.count) / outcome.seconds
    sample[.seconds] = outcome.seconds
    sample.addLatencies(latencies)
    sample.addPeakResident()
    if isBesideWriter { sample[.commitsBeside] = Double(commits) / outcome.seconds }
    sample.resultHash = outcome.values.hash &+ UInt64(outcome.values.count)
    let expected = self.keys == .missing ? 0 : keys.count
    guard outcome.values.count == expected else {
      throw BenchmarkError.finding("\(stage.kind.name.text): \(outcome.values.count) rows found of \(expected)")
    }
    try reader.close()
    try engine.close()
    return sample
  }

  private func indices(_ rowCount: Int) -> [Int] {
    let reads = max(1000, min(rowCount, 500_000))
    switch keys {
    case .present: return RowOrder.draws(reads, from: 0..<rowCount, seed: 11)
    case .missing: return RowOrder.draws(reads, from: rowCount..<2 * rowCount, seed: 12)
    case .hot:
      // Two rows in five are of table 0; of these one in forty has so small an identifier.
      let all = RowBatch(indices: Array(0..<rowCount), keysOnly: true)
      let hot = (0..<rowCount).filter { place in
        let key = all.key(place)
        return key.loadUnaligned(as: UInt16.self) == 0 && key.load(fromByteOffset: 2, as: UInt8.self) < 7
      }
      let picks = RowOrder.draws(reads, from: 0..<max(1, hot.count), seed: 13)
      return picks.map { hot.isEmpty ? $0 : hot[$0] }
    }
  }

  private struct Outcome {
    var seconds: Double
    var values: ValueHash
  }

  private static func readAll(_ keys: RowBatch, _ reader: any EngineReader) throws -> Outcome {
    let value = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
    defer { value.deallocate() }
    var values = ValueHash()
    let begun = monotonicNanoseconds()
    for place in 0..<keys.count {
      if place % readsPerView == 0 { try reader.refresh() }
      if let count = try reader.read(keys.key(place), into: value) { values.add(value, count) }
    }
    return Outcome(seconds: StrandlineBenchmarks.seconds(since: begun), values: values)
  }

  /// Apart from the reads that count: looking at the clock takes a tenth of a quick read.
  private static func latencies(_ keys: RowBatch, _ reader: any EngineReader) throws -> [UInt64] {
    let value = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.valueByteCountMax, alignment: 8)
    defer { value.deallocate() }
    var values = ValueHash()
    var latencies: [UInt64] = []
    latencies.reserveCapacity(keys.count / 5)
    for place in 0..<keys.count / 5 {
      let begun = monotonicNanoseconds()
      if let count = try reader.read(keys.key(place), into: value) { values.add(value, count) }
      latencies.append(monotonicNanoseconds() - begun)
    }
    return latencies
  }

  private func readBesideWriter(
    _ keys: RowBatch, _ engine: any StoreEngine, _ stage: EngineStage
  ) throws -> (Outcome, commits: Int, latencies: [UInt64]) {
    let written = RowBatch(indices: RowOrder.draws(min(stage.rowCount, 20_000), from: 0..<stage.rowCount, seed: 14))
    let shared = Shared()
    _ = try runThreads(2) { thread in
      if thread == 0 {
        // However it ends, the writer must learn it.
        defer { shared.isOver.store(true, ordering: .releasing) }
        let reader = try engine.reader()
        shared.outcome = try Self.readAll(keys, reader)
        shared.commits = shared.committed.load(ordering: .acquiring)
        shared.latencies = try Self.latencies(keys, reader)
        try reader.close()
      } else {
        var place = 0
        while !shared.isOver.load(ordering: .acquiring) {
          try engine.commit { transaction in try transaction.put(written[place % written.count]) }
          shared.committed.add(1, ordering: .releasing)
          place += 1
        }
      }
    }
    guard let outcome = shared.outcome else { throw BenchmarkError.failed("nothing was read") }
    return (outcome, shared.commits, shared.latencies)
  }

  private final class Shared: @unchecked Sendable {
    // Sendable: plain properties are the reading thread's until it was waited for.
    let isOver = Atomic(false)
    let committed = Atomic(0)
    var outcome: Outcome?
    var commits = 0
    var latencies: [UInt64] = []
  }
}
