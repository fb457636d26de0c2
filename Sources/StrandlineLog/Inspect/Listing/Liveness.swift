/// Whether what stands in a segment counts.
@_spi(Engine) public enum Liveness: String, Hashable, Sendable {
  case live
  /// A reset has ended its epoch.
  case reset
  /// In front of the first live segment: given up by a release.
  case released
  /// Behind the end of what was confirmed: the next writable open cuts it.
  case torn
  /// In a file that is not part of the chain.
  case stray
}

extension Finding.Severity {
  /// How grave damage is that stands where `liveness` says.
  public init(ofDamage liveness: Liveness) {
    switch liveness {
    case .live, .reset: self = .corruption
    case .torn, .stray: self = .finding
    case .released: self = .note
    }
  }
}

/// What decides whether a frame counts: the epoch in force and where the confirmed log ends.
struct LivenessRule: Sendable {
  let epoch: UInt64
  /// Where the tail is cut; nil where the tail is damaged and everything that verifies counts.
  let end: LSN?
  /// Up to here something says that a sync had covered the log.
  let promise: LSN

  init(_ survey: StoreSurvey, tail: TailInspection?) throws(LogError) {
    var epoch = max(survey.root.root?.epoch ?? 0, survey.live.compactMap { $0.header?.epoch }.max() ?? 0)
    promise = tail?.evidence.promise.lsn ?? .zero
    if let tail {
      epoch = max(epoch, tail.evidence.state.epoch)
      end = tail.isCorrupt ? nil : tail.evidence.commitEnd
      // A RESET behind the damage ends an epoch as well.
      if tail.isCorrupt { epoch = max(epoch, try Self.highestEpoch(behindDamageIn: tail, survey)) }
    } else {
      end = nil
    }
    self.epoch = epoch
  }

  private static func highestEpoch(
    behindDamageIn tail: TailInspection, _ survey: StoreSurvey
  ) throws(LogError) -> UInt64 {
    let segment = try SegmentFile(inspecting: tail.path, header: tail.header, in: survey.directory.fileSystem)
    var walk = FrameWalk(
      segment, from: ChainState(startOf: tail.header), end: try segment.byteCount(), searchesBits: false)
    var epoch: UInt64 = 0
    do throws(Errno) {
      while let step = try walk.next() {
        if case .frame(let frame, _) = step, frame.body == .whole { epoch = max(epoch, frame.epoch) }
      }
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    return epoch
  }

  func liveness(in role: SegmentInspection.Role, at lsn: LSN, epoch: UInt64) -> Liveness {
    switch role {
    case .released: return .released
    case .stray, .unfinished: return .stray
    case .closed, .active: break
    }
    if role == .active, let end, lsn >= end { return .torn }
    return epoch < self.epoch ? .reset : .live
  }
}
