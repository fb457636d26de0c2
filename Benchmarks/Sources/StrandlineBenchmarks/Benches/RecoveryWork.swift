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

  /// What is live in a store of `rows` rows.
  func live(_ rows: Int) -> CorpusShape {
    switch shape {
    case .rows, .tornTail: CorpusShape(range: 0..<rows)
    case .resetInMiddle: CorpusShape(range: rows / 2..<rows)
    case .smallRecords: CorpusShape(kind: .smallRecords, range: 0..<rows)
    }
  }
}
