internal import CReference

/// `scan.full`, `dbbench.readseq`, `.readreverse`: every row in the order of keys, or backwards, each value hashed.
struct FullScan: StoreWork {
  var isBackwards = false
  var writesAtRandom: Bool { false }

  func prepare(_ stage: EngineStage) throws { _ = try stage.compacted() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.compacted()
    try warmCache(under: path)
    let engine = try stage.open(path)
    let reader = try engine.reader()
    _ = try scan(reader)
    let begun = monotonicNanoseconds()
    let values = try scan(reader)
    let seconds = seconds(since: begun)
    var sample = Sample(rows: values.count, seconds: seconds, resultHash: values.hash)
    sample.addPeakResident()
    try reader.close()
    try engine.close()
    return sample
  }

  private func scan(_ reader: any EngineReader) throws -> ValueHash {
    var values = ValueHash()
    // Closures that do not escape: what they capture is not checked for exclusivity with each row.
    if isBackwards {
      try reader.scanBackwards { _, value in
        values.add(value.baseAddress, value.count)
        return true
      }
    } else {
      try reader.scan(from: nil) { _, value in
        values.add(value.baseAddress, value.count)
        return true
      }
    }
    return values
  }
}

/// `dbbench.seekrandom`: seeks to keys that no row has, and the first row behind each, its value hashed.
struct RandomSeeks: StoreWork {
  var writesAtRandom: Bool { false }

  func prepare(_ stage: EngineStage) throws { _ = try stage.compacted() }

  func sample(_ stage: EngineStage) throws -> Sample {
    let path = try stage.compacted()
    try warmCache(under: path)
    let count = max(1000, min(stage.rowCount, 200_000))
    let keys = RowBatch(
      indices: RowOrder.draws(count, from: stage.rowCount..<2 * stage.rowCount, seed: 21), keysOnly: true)
    let engine = try stage.open(path)
    let reader = try engine.reader()
    try reader.scan(from: nil) { _, _ in true }

    var values = ValueHash()
    var latencies: [UInt64] = []
    latencies.reserveCapacity(count)
    let begun = monotonicNanoseconds()
    for place in 0..<keys.count {
      let sought = monotonicNanoseconds()
      try reader.scan(from: keys.key(place)) { _, value in
        values.add(value.baseAddress, value.count)
        return false
      }
      latencies.append(monotonicNanoseconds() - sought)
    }
    let seconds = seconds(since: begun)

    var sample = Sample()
    sample[.operationsPerSecond] = Double(keys.count) / seconds
    sample[.seconds] = seconds
    sample.addLatencies(latencies)
    sample.addPeakResident()
    sample.resultHash = values.hash &+ UInt64(values.count)
    try reader.close()
    try engine.close()
    return sample
  }
}
