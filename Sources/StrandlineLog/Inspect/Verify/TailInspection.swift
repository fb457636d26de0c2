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
  /// A writer is at work: someone holds the lock, or bytes changed while they were looked at.
  public var isInUse: Bool

  /// What lies behind the last complete commit is on its way, not torn.
  public var isInFlight: Bool { isInUse && isUnfinished }
  /// Bytes that are no complete commit stand behind the last one.
  var isUnfinished: Bool { verdict == .torn || evidence.commitEnd != evidence.verifiedEnd }

  /// File offset of an LSN of the segment.
  public func offset(of lsn: LSN) -> Int64 { Int64(clamping: lsn.rawValue) - Int64(clamping: header.baseLSN.rawValue) }
  /// Offset of the first frame that does not verify: X.
  public var verifiedEndOffset: Int64 { offset(of: evidence.verifiedEnd) }
  /// Offset behind the last complete commit: U.
  public var commitEndOffset: Int64 { offset(of: evidence.commitEnd) }
  public var isCorrupt: Bool {
    if case .corrupt = verdict { true } else { false }
  }

  /// How often the tail of a store that is being written to is looked at again when something seems wrong with it.
  private static let lookCountMax = 100

  /// Looks at the end of `segment`, and again where something seems wrong, until that is known to be at rest.
  ///
  /// A writer that is at work beside us, or begins to be, goes on while we read: a frame may be there by half, a promise read late
  /// may cover frames that were not there yet when their place was read, and META may have been read before the writer marked it.
  /// So nothing is called a finding that was seen once. The lock and META are read again, then the tail. With the lock held,
  /// what is unfinished is in flight; without it, bytes that changed between two looks are too, as locks of another machine or another
  /// namespace of processes are not shown to us. Damage stays where it is.
  ///
  /// - Parameter store: the directory of the segment; nil for a file that is looked at by itself.
  /// - Throws: ``LogError/generationGone`` if the segment is the last one no more; ``LogError/ioFailed(_:)``.
  static func examine(
    _ segment: SegmentFile, root: RootSlot?, isLocked: Bool, store: StoreDirectory?
  ) throws(LogError) -> TailInspection {
    var root = root
    var inspection = try look(segment, root: root)
    inspection.isInUse = isLocked
    var looks = 1
    while inspection.isSuspect, looks < lookCountMax {
      var isInUse = inspection.isInUse
      if let store {
        isInUse = isInUse || LockState.of(store).isHeld
        let now = try RootInspection.read(in: store, searchesBits: false).root
        if let now, now.lastCreatedOrdinal > segment.header.ordinal, now != root { throw .generationGone }
        root = now ?? root
      }
      var again = try look(segment, root: root)
      looks += 1
      let isAtRest = again.isAsSeen(in: inspection)
      // Whoever changes bytes has the store open, whether we see the lock or not.
      again.isInUse = isInUse || !isAtRest
      inspection = again
      if isAtRest { break }
    }
    return inspection
  }

  /// Something seems wrong that a writer at work could have caused.
  private var isSuspect: Bool { isCorrupt || refusal != nil || damage != nil || isUnfinished && !isInUse }

  private func isAsSeen(in earlier: TailInspection) -> Bool {
    guard evidence.verifiedEnd == earlier.evidence.verifiedEnd, verdict == earlier.verdict,
      (refusal == nil) == (earlier.refusal == nil)
    else { return false }
    // A writer may go on behind damage: that stays where it is all the same.
    if isCorrupt || refusal != nil { return true }
    return evidence.commitEnd == earlier.evidence.commitEnd && evidence.contentEnd == earlier.evidence.contentEnd
  }

  private static func look(_ segment: SegmentFile, root: RootSlot?) throws(LogError) -> TailInspection {
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
    var inspection = TailInspection(
      path: segment.path, header: segment.header, evidence: evidence, facts: facts, verdict: verdict, refusal: nil,
      damage: nil, cut: nil, isInUse: false)
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
