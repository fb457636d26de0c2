internal import CReference
internal import StrandlineLog

/// Stores of ours that benches write and read.
enum StrandlineStore {
  /// Opens a new log, lets `append` write all rows and tell how many seconds it took, and reads them back.
  static func measureAppend(
    _ work: AppendWork, _ site: Site, _ append: (Log, LatencyList) throws -> Double
  ) throws -> Sample {
    let path = try site.freshPath()
    defer { try? removeTree(path) }
    let latencies = LatencyList(count: work.commitCount(rows: site.rowCount))
    defer { latencies.deallocate() }
    let log = try Log.open(at: path)
    let seconds = try append(log, latencies)
    try log.close()

    let onDisk = try byteCount(under: path)
    var sample = Sample(
      work, rows: site.rowCount, seconds: seconds, latencies: latencies.array, resultHash: try hashOfRecords(in: path))
    sample[.onDisk] = Double(onDisk)
    return sample
  }

  /// The sum of XXH3 over all live records.
  private static func hashOfRecords(in path: String) throws -> UInt64 {
    var options = LogOptions()
    options.access = .readOnly
    var sum: UInt64 = 0
    let log = try Log.open(at: path, options: options) { (batch) throws(LogError) in
      for frame in batch.frames {
        for record in batch.records(of: frame) { sum &+= reference_xxh3(record.baseAddress, record.count) }
      }
    }
    try log.close()
    return sum
  }

  /// Makes the store that `work` opens, at `path`, where nothing is.
  static func build(_ work: RecoveryWork, rows: Int, at path: String) throws {
    var options = LogOptions()
    // What lies behind the last commit is decided here, not by a timer.
    options.idleMarkInterval = nil
    if work.shape == .resetInMiddle { options.segmentByteCountMax = 64 << 30 }
    switch work.shape {
    case .rows, .smallRecords:
      let log = try Log.open(at: path, options: options)
      try append(CorpusCache.corpus(work.live(rows)), to: log, recordsPerCommit: work.recordsPerCommit)
      try log.close()
    case .resetInMiddle:
      let log = try Log.open(at: path, options: options)
      try append(CorpusCache.corpus(CorpusShape(range: 0..<rows / 2)), to: log, recordsPerCommit: 1000)
      try log.reset()
      try append(CorpusCache.corpus(work.live(rows)), to: log, recordsPerCommit: 1000)
      try log.close()
    case .tornTail:
      // The files of an open log are what a killed process leaves. Then the last write did not arrive whole.
      let running = "\(path).running"
      let log = try Log.open(at: running, options: options)
      try append(CorpusCache.corpus(work.written(rows)), to: log, recordsPerCommit: 1000)
      try copyTree(running, to: path)
      try log.close()
      try removeTree(running)
      guard let last = try names(in: path).last(where: { $0.hasSuffix(".log") }) else {
        throw BenchmarkError.failed("\(path) has no segment")
      }
      try tearLastWrite(of: "\(path)/\(last)")
    }
  }

  /// Appends all rows in commits that are synced together at the end.
  static func append(_ corpus: RowCorpus, to log: Log, recordsPerCommit: Int) throws {
    for start in stride(from: 0, to: corpus.count, by: recordsPerCommit) {
      var draft = log.draft()
      for index in start..<min(start + recordsPerCommit, corpus.count) { try draft.append(corpus[index]) }
      try log.append(draft, durability: .buffered)
    }
    try log.sync()
  }
}
