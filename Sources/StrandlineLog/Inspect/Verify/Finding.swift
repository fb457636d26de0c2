/// Something about a store that its owner should know: what, where, how bad.
@_spi(Engine) public struct Finding: Hashable, Sendable {
  /// How bad, in rising order.
  @_spi(Engine) public enum Severity: Int, Comparable, Hashable, Sendable {
    /// As it may be; said for completeness.
    case note
    /// Not as a healthy store looks, and nothing that was confirmed is lost.
    case finding
    /// Bytes that a sync had confirmed are damaged, or the file is not ours, or newer than we are.
    case corruption
    /// The system refused to read.
    case ioFailure

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// Stable names, for scripts.
  @_spi(Engine) public enum Code: String, Hashable, Sendable {
    case noStore, unfinishedFile, unknownName, innerStore, releasedSegment, straySegment, unfinishedSegment
    case rootSlotDamaged, rootDamaged, headerCopyDamaged, headerBlockDirty, untrimmedSpace
    case tornTail, inFlight, unverifiable
    case frameDamaged, bodyDamaged, chainBroken, commitIncomplete, gap, segmentDamaged, segmentEnd, tailVerdict,
      unsupported
    /// What verifies and means nothing to a store with tables.
    case factUnreadable
    case layerMissing, layerDamaged, layerUnnamed, refused, ioFailed
  }

  public var severity: Severity
  public var code: Code
  /// Absolute path.
  public var file: String
  /// Byte in the file, where there is one.
  public var offset: Int64?
  /// How many bytes are concerned, where that is known.
  public var byteCount: Int64?
  /// A sentence without the file and the offset.
  public var message: String
  /// The bit that explains the damage: byte in the file, and bit in that byte.
  public var flippedBit: SingleBit?

  @_spi(Engine) public init(
    _ severity: Severity, _ code: Code, _ file: String, at offset: Int64? = nil, byteCount: Int64? = nil,
    _ message: String, flippedBit: SingleBit? = nil
  ) {
    self.severity = severity
    self.code = code
    self.file = file
    self.offset = offset
    self.byteCount = byteCount
    self.message = message
    self.flippedBit = flippedBit
  }

  /// What open would say.
  init(_ error: LogError, path: String) {
    switch error {
    case .corrupt(let report):
      self.init(
        .corruption, .refused, report.file, at: report.offset,
        "\(report.reason.rawValue): expected \(report.expected), found \(report.found)")
    case .unsupportedFormat(let file, let detail):
      var offset: Int64?
      if case .frameKind(_, let place) = detail { offset = place }
      self.init(.corruption, .unsupported, file, at: offset, "\(detail)")
    case .ioFailed(let failure):
      self.init(.ioFailure, .ioFailed, failure.path, "\(failure.operation.rawValue) failed: \(failure.errno)")
    default:
      self.init(.corruption, .refused, path, "\(error)")
    }
  }
}

/// Findings in the order they were made, at most ``countMax`` of them; the rest are counted.
struct FindingList: Sendable {
  static let countMax = 1000

  private(set) var findings: [Finding] = []
  /// Findings that were left out.
  private(set) var omittedCount = 0
  private(set) var worst: Finding.Severity?

  mutating func add(_ finding: Finding) {
    worst = max(worst ?? .note, finding.severity)
    if findings.count < Self.countMax {
      findings.append(finding)
    } else {
      omittedCount += 1
    }
  }

  mutating func add(_ other: FindingList) {
    for finding in other.findings { add(finding) }
    omittedCount += other.omittedCount
  }
}
