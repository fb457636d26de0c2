/// What a bench of the `append` family does.
struct AppendWork: Hashable, Sendable {
  var writers: Int
  var recordsPerCommit: Int
  /// Each commit returns once it is durable; otherwise once it is written, and the run ends with one sync.
  var isSynced: Bool

  func commitCount(rows: Int) -> Int { (rows + recordsPerCommit - 1) / recordsPerCommit }

  func recordRange(ofCommit commit: Int, rows: Int) -> Range<Int> {
    let start = commit * recordsPerCommit
    return start..<min(start + recordsPerCommit, rows)
  }
}

extension Sample {
  init(_ work: AppendWork, rows: Int, seconds: Double, latencies: [UInt64], resultHash: UInt64?) {
    self.init(rows: rows, seconds: seconds, resultHash: resultHash)
    self[.commitsPerSecond] = Double(work.commitCount(rows: rows)) / seconds
    addLatencies(latencies)
  }
}
