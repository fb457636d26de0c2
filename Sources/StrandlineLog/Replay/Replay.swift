/// Verifies, decodes and delivers the log, on one thread or several, in log order.
///
/// One unit of about 1 MiB at a time is read and its headers walked in order, by whoever is free; bodies are verified and
/// decoded in parallel; the caller's thread delivers and decodes when nothing is ready. At most two units a thread are on their
/// way. The result, and the first error, are those of a single thread.
enum Replay {
  struct Totals: Hashable, Sendable {
    var commitCount = 0
    var recordCount = 0
    var storedByteCount: Int64 = 0
    var rawByteCount: Int64 = 0
  }

  typealias Consumer = (inout ReplayBatch) throws(LogError) -> Void

  /// Replays `spans`, beginning at `state`; returns the state behind the last frame.
  static func run(
    _ spans: [ReplaySpan], from state: ChainState, fileSystem: any FileSystem, threadCount: Int, consumer: Consumer?
  ) throws(LogError) -> (state: ChainState, totals: Totals) {
    var totals = Totals()
    for span in spans {
      let start = max(span.header.firstFrameLSN, state.lsn)
      totals.storedByteCount += Int64(span.end.rawValue) - Int64(min(start, span.end).rawValue)
    }
    var source = ReplaySource(spans, from: state, fileSystem: fileSystem)
    // Little data is decoded faster than a thread is started.
    if threadCount == 1 || totals.storedByteCount < Int64(ReplaySource.storedByteCountTarget) {
      var unit = ReplayUnit()
      while try source.fill(&unit) {
        var batch = try unit.decode()
        try deliver(&batch, to: consumer, &totals)
        unit.reuse(batch)
      }
      return (source.state, totals)
    }
    let pipeline = ReplayPipeline(source, threadCount: threadCount)
    defer { pipeline.stop() }
    try pipeline.start()
    while let delivery = try pipeline.next() {
      try delivery.use { (batch) throws(LogError) in try deliver(&batch, to: consumer, &totals) }
      pipeline.giveBack(delivery)
    }
    return (pipeline.finalState(), totals)
  }

  private static func deliver(
    _ batch: inout ReplayBatch, to consumer: Consumer?, _ totals: inout Totals
  ) throws(LogError) {
    for frame in batch.frames {
      totals.recordCount += frame.recordCount
      if frame.isLast { totals.commitCount += 1 }
    }
    totals.rawByteCount += Int64(batch.bytes.count)
    try consumer?(&batch)
  }
}
