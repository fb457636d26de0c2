import StrandlineLog

/// Compares a store with the history it was made from, byte by byte.
enum TourProof {
  /// Reads every commit of `log` and demands that it is the one of that number in `history`, and that they number from 1
  /// without a hole.
  ///
  /// - Parameter missing: numbers that a gap may stand for.
  /// - Returns: how many commits there are, gaps counted as the commits they stand for.
  static func compare(
    _ log: Log, with history: TourHistory, missing: ClosedRange<UInt64>? = nil
  ) throws -> Int {
    let reader = try log.read()
    var next: UInt64 = 1
    while let commit = try reader.next() {
      switch commit.content {
      case .gap(let gap):
        let range = gap.first.rawValue...gap.last.rawValue
        try require(range == missing && range.lowerBound == next, "commits \(range) are missing")
        next = range.upperBound + 1
      case .reset:
        throw disproved("there is a reset at \(commit.position.sequence)")
      case .records:
        let number = commit.position.sequence.rawValue
        try require(number == next, "commit \(next) is missing, \(number) comes in its place")
        try require(number <= UInt64(history.commits.count), "commit \(number) was never written")
        try require(isEqual(commit, history.commits[Int(number) - 1]), "commit \(number) has other contents")
        next += 1
      }
    }
    return Int(next) - 1
  }

  /// Throws what ends the tour with a failure unless `isTrue`.
  static func require(_ isTrue: Bool, _ complaint: @autoclosure () -> String) throws(Failure) {
    if !isTrue { throw disproved(complaint()) }
  }

  private static func disproved(_ complaint: String) -> Failure { Failure(.finding, "NOT PROVED: \(complaint)") }

  private static func isEqual(_ commit: Commit, _ records: [[UInt8]]) -> Bool {
    var index = 0
    var isEqual = commit.recordCount == records.count
    commit.forEachRecord { record in
      isEqual = isEqual && record.elementsEqual(records[index])
      index += 1
    }
    return isEqual
  }
}
