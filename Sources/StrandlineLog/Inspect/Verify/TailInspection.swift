/// The end of the last segment: the verdict of the torn-tail rule, with its evidence. The same code answers as in open.
@_spi(Engine) public struct TailInspection: Hashable, Sendable {
  public var path: String
  public var header: SegmentHeader
  public var evidence: TailEvidence
  public var facts: TailFacts
  public var verdict: TailVerdict
  /// What open refuses the store for when it has looked at the tail. Open does not prove bodies in front of the anchor, this
  /// inspection does, so one may find damage that the other has no need to see.
  public var refusal: LogError?
  /// What is wrong with the bytes of the segment that a sync had confirmed, wherever they stand.
  public var damage: LogError?
  /// Where open would cut; nil if it refuses.
  public var cut: LSN?
  /// A writer has the store open: what lies behind the highest promise is on its way, not torn.
  public var isInFlight: Bool

  /// File offset of an LSN of the segment.
  public func offset(of lsn: LSN) -> Int64 { Int64(clamping: lsn.rawValue) - Int64(clamping: header.baseLSN.rawValue) }
  /// Offset of the first frame that does not verify: X.
  public var verifiedEndOffset: Int64 { offset(of: evidence.verifiedEnd) }
  /// Offset behind the last complete commit: U.
  public var commitEndOffset: Int64 { offset(of: evidence.commitEnd) }
  public var isCorrupt: Bool {
    if case .corrupt = verdict { true } else { false }
  }

  /// How often the tail of a store that is being written to is looked at again when it seems damaged.
  private static let lookCountMax = 100

  static func examine(
    _ segment: SegmentFile, root: RootSlot?, isLocked: Bool
  ) throws(LogError) -> TailInspection {
    var inspection = try look(segment, root: root, isLocked: isLocked)
    var looks = 1
    // The writer beside us goes on while we read: a promise read late may cover frames that were not there yet when their
    // place was read. Read again, they are. Damage stays where it is.
    while isLocked, inspection.isCorrupt, looks < lookCountMax {
      let again = try look(segment, root: root, isLocked: isLocked)
      let isSettled = again.evidence.verifiedEnd == inspection.evidence.verifiedEnd
      inspection = again
      looks += 1
      if isSettled { break }
    }
    return inspection
  }

  private static func look(
    _ segment: SegmentFile, root: RootSlot?, isLocked: Bool
  ) throws(LogError) -> TailInspection {
    let evidence = try TailJudge(segment, root: root, provesAllBodies: true).examine()
    var facts = TailFacts()
    if let root {
      facts = TailFacts(evidence, tail: segment, root: root)
    } else {
      facts.isNewest = true
      facts.breaksPromise = evidence.promise.lsn > evidence.verifiedEnd
      facts.isZeroBehind = evidence.isZeroBehind
    }
    let verdict = TailVerdict(facts)
    let isUnfinished = verdict == .torn || evidence.commitEnd != evidence.verifiedEnd
    var inspection = TailInspection(
      path: segment.path, header: segment.header, evidence: evidence, facts: facts, verdict: verdict, refusal: nil,
      damage: nil, cut: nil, isInFlight: isLocked && isUnfinished)
    do throws(LogError) {
      if let root { try evidence.refuseIfCorrupt(tail: segment, root: root) }
    } catch {
      inspection.damage = error
    }
    let seenByOpen = try TailJudge(segment, root: root).examine()
    do throws(LogError) {
      if let root { try seenByOpen.refuseIfCorrupt(tail: segment, root: root) }
      inspection.cut = seenByOpen.commitEnd
    } catch {
      inspection.refusal = error
    }
    return inspection
  }
}
