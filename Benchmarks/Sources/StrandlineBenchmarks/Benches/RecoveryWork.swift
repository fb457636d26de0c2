/// What a bench of the `recovery` family opens.
struct RecoveryWork: Hashable, Sendable {
  /// How the store was left.
  enum Shape: Hashable, Sendable {
    /// Rows in durable commits of 1,000, closed.
    case rows
    /// The same, killed in the middle of its last write.
    case tornTail
    /// Half of the rows are void: a reset lies between the halves, all in one segment.
    case resetInMiddle
    /// Records of 32 bytes, one a commit.
    case smallRecords
  }

  var shape: Shape = .rows
  var threads: Int
  /// Nothing of the files is in the page cache.
  var isCold = false
  /// Every row stays in memory under its key; otherwise all is verified and nothing kept.
  var keepsRows = true

  var recordsPerCommit: Int { shape == .smallRecords ? 1 : 1000 }

  /// What is live in a store of `rows` rows.
  func live(_ rows: Int) -> CorpusShape {
    switch shape {
    case .rows: CorpusShape(range: 0..<rows)
    // Whole commits, so that the torn one behind them is a commit of its own.
    case .tornTail: CorpusShape(range: 0..<max(1, rows / 1000) * 1000)
    case .resetInMiddle: CorpusShape(range: rows / 2..<rows)
    case .smallRecords: CorpusShape(kind: .smallRecords, range: 0..<rows)
    }
  }

  /// The same with the commit that is to be torn.
  func written(_ rows: Int) -> CorpusShape {
    var written = live(rows)
    if shape == .tornTail { written.range = 0..<written.range.upperBound + 100 }
    return written
  }
}
