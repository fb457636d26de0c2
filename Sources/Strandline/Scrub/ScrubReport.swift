public import StrandlineLog

/// What a walk over everything that is stored came to.
public struct ScrubReport: Hashable, Sendable {
  /// Segments of the log and layers that were looked at. One that a reset, a release or a merge removed meanwhile may not be among them.
  public var segmentCount = 0
  public var layerCount = 0
  /// Bytes that were read.
  public var byteCount: UInt64 = 0
  /// In the order in which they were found; the first ``findingCountMax``.
  public var findings: [ScrubFinding] = []
  /// Findings that were left out because there are too many.
  public var omittedFindingCount = 0
  /// False: it was told to stop before the end.
  public var isComplete = false
  public var nanoseconds: UInt64 = 0

  /// So many findings are kept.
  public static let findingCountMax = 1000

  mutating func add(_ finding: ScrubFinding) {
    if findings.count < Self.findingCountMax {
      findings.append(finding)
    } else {
      omittedFindingCount += 1
    }
  }
}

/// How far a walk over everything that is stored has come.
public struct ScrubProgress: Hashable, Sendable {
  /// Bytes read so far.
  public var byteCount: UInt64
  /// Bytes that there are now; grows with the store.
  public var totalByteCount: UInt64
}
