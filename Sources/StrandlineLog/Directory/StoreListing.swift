/// The names in a store's directory, sorted by what they are.
@_spi(Engine) public struct StoreListing: Hashable, Sendable {
  /// By ordinal, then id.
  public var segments: [SegmentFileName] = []
  public var layers: [LayerFileName] = []
  public var hasRoot = false
  /// Files and directories that an operation of ours began and did not finish.
  public var unfinished: [String] = []
  /// Complete stores in directories of their own: kept copies and staging.
  public var inner: [String] = []
  /// Names that no version of this format makes. Left alone.
  public var unknown: [String] = []

  public init(_ names: [String]) {
    for name in names.sorted() {
      if name == RootSlot.fileName {
        hasRoot = true
      } else if name == LockFile.name {
        continue
      } else if let segment = SegmentFileName(name) {
        segments.append(segment)
      } else if let layer = LayerFileName(name) {
        layers.append(layer)
      } else if Self.isUnfinished(name) {
        unfinished.append(name)
      } else if name.hasPrefix("kept-") || name.hasPrefix("stage-") {
        inner.append(name)
      } else {
        unknown.append(name)
      }
    }
    segments.sort { ($0.ordinal, $0.id) < ($1.ordinal, $1.id) }
  }

  /// Whether bytes of a store are here at all.
  public var holdsData: Bool { !segments.isEmpty || !layers.isEmpty }

  /// What a directory without META is: no store, or one whose root was lost.
  func missingRoot(in directory: StoreDirectory) -> LogError {
    guard holdsData else { return .noStore(path: directory.path) }
    return .corrupt(
      CorruptionReport(
        reason: .rootMissing, file: directory.path(of: RootSlot.fileName), expected: "META beside its segments",
        found: "\(segments.count) of its segments and \(layers.count) of its layers"))
  }

  private static func isUnfinished(_ name: String) -> Bool {
    guard name.hasSuffix(".tmp") else { return false }
    let final = String(name.dropLast(4))
    return final == RootSlot.fileName || SegmentFileName(final) != nil || LayerFileName(final) != nil
      || KeptCopyName.isOne(final)
  }
}
