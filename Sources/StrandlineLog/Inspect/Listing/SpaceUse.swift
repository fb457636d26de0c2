/// What the bytes of a store's files are for.
@_spi(Engine) public struct SpaceUse: Hashable, Sendable {
  /// Frames that replay would read.
  public var replayed: Int64 = 0
  /// Frames in front of the anchor: history, kept for readers; the layers hold the state.
  public var history: Int64 = 0
  /// Frames that a reset has ended, and files that a reset or release has given up.
  public var dead: Int64 = 0
  /// Behind the end of the log: space kept ahead, a torn tail.
  public var ahead: Int64 = 0
  /// META, segment headers.
  public var administration: Int64 = 0
  /// Layers that META names.
  public var layers: Int64 = 0
  /// Layers that it does not name, segments that are not of the chain.
  public var stray: Int64 = 0

  public var total: Int64 { replayed + history + dead + ahead + administration + layers + stray }

  /// Measures by headers alone; damaged segments count by what their neighbours say.
  public static func of(
    _ survey: StoreSurvey, tail: TailInspection?
  ) throws(LogError) -> SpaceUse {
    var use = SpaceUse()
    use.administration += survey.root.byteCount ?? 0
    for layer in survey.layers {
      if layer.entry != nil { use.layers += layer.byteCount ?? 0 } else { use.stray += layer.byteCount ?? 0 }
    }
    let reset = try resetLSN(survey, tail: tail)
    let anchor = survey.root.root?.anchor.lsn ?? .zero
    for segment in survey.segments { use.add(segment, tail: tail, reset: reset, anchor: anchor) }
    return use
  }

  private mutating func add(_ segment: SegmentInspection, tail: TailInspection?, reset: LSN, anchor: LSN) {
    guard let header = segment.header, segment.role == .closed || segment.role == .active else {
      if segment.role == .released { dead += segment.byteCount } else { stray += segment.byteCount }
      return
    }
    let begin = min(segment.byteCount, Int64(SegmentHeader.blockByteCount))
    administration += begin
    var end = segment.byteCount
    if let named = segment.named { end = min(end, Int64(clamping: named.byteCount)) }
    if segment.role == .active, let tail { end = min(end, tail.commitEndOffset) }
    end = max(end, begin)
    ahead += segment.byteCount - end
    // Three stretches of the segment: ended by a reset, in front of the anchor, behind it.
    let base = Int64(clamping: header.baseLSN.rawValue)
    func offset(_ lsn: LSN) -> Int64 {
      min(max(Int64(clamping: lsn.rawValue).subtractingReportingOverflow(base).partialValue, begin), end)
    }
    let live = offset(reset)
    let behindAnchor = max(live, offset(anchor))
    dead += live - begin
    history += behindAnchor - live
    replayed += end - behindAnchor
  }

  /// Where the last RESET stands; zero if there was none, or nothing in front of it is left.
  private static func resetLSN(_ survey: StoreSurvey, tail: TailInspection?) throws(LogError) -> LSN {
    let live = survey.live
    let epoch = max(
      tail?.evidence.state.epoch ?? 0, live.compactMap { $0.header?.epoch }.max() ?? 0, survey.root.root?.epoch ?? 0)
    guard let index = live.lastIndex(where: { ($0.header?.epoch ?? epoch) < epoch }), let header = live[index].header
    else { return .zero }
    let segment = try SegmentFile(inspecting: live[index].path, header: header, in: survey.directory.fileSystem)
    var scanner = SegmentScanner(segment, from: ChainState(startOf: header), end: try segment.byteCount())
    var last = header.baseLSN
    do throws(Errno) {
      while case .frame(let frame) = try scanner.next(provingBody: false) {
        if frame.header.kind == .reset { last = frame.lsn }
      }
    } catch {
      throw .ioFailed(segment.failure(.read, error))
    }
    return last
  }
}
