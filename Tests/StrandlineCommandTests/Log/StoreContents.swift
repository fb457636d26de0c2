import StrandlineLog

/// Opens a store, which recovers it, and gives back all commits in it.
func contents(ofStore path: String) throws -> (commits: [Commit], report: OpenReport) {
  let log = try Log.open(at: path)
  let reader = try log.read()
  var commits: [Commit] = []
  while let commit = try reader.next() { commits.append(commit) }
  try log.close()
  return (commits, log.openReport)
}

/// What `log append --acks` prints for a commit.
struct Acknowledgement: Equatable {
  var sequence: UInt64
  var recordCount: Int

  /// Parses whole lines only, as a reader must that may have been cut off.
  static func parse(_ bytes: [UInt8]) throws -> [Acknowledgement] {
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    lines.removeLast()
    return try lines.map { line in
      guard let match = line.wholeMatch(of: /\{"first":(\d+),"last":(\d+),"records":(\d+)\}/),
        match.1 == match.2, let sequence = UInt64(match.1), let count = Int(match.3)
      else { throw Malformed(line: String(line)) }
      return Acknowledgement(sequence: sequence, recordCount: count)
    }
  }

  struct Malformed: Error { var line: String }
}
