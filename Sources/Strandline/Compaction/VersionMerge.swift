/// What a merge of layers keeps of their versions.
enum VersionMerge {
  /// Merges `cursors`, top first, into `output`, in order.
  ///
  /// Of each key it keeps every version above `horizon` and the newest at or below it. Whoever reads at the horizon or later sees no
  /// difference.
  ///
  /// - Parameters:
  ///   - isBottom: Whether no layer lies below: a delete at or below the horizon says nothing then and is dropped.
  ///   - shouldStop: Asked every 256 versions; what it throws ends the merge.
  /// - Returns: False if it was stopped; what was put out until then is the beginning of the merge.
  static func run(
    _ cursors: [any VersionCursor], horizon: UInt64, isBottom: Bool, shouldStop: () throws(StoreError) -> Bool,
    output: (VersionView) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    let source = MergedCursor(cursors)
    // The key of the versions above the horizon that were put out last, and the oldest of them.
    var key: [UInt8] = []
    var prefix: KeyPrefix?
    var oldest: UInt64 = 0
    var untilAsked = 256
    try source.seek(to: .lowest)
    while let version = source.current {
      untilAsked -= 1
      if untilAsked == 0 {
        if try shouldStop() { return false }
        untilAsked = 256
      }
      if version.sequence <= horizon {
        if version.value != nil || !isBottom { try output(version) }
        try source.advancePastKey()
        continue
      }
      let isSameKey =
        prefix == version.key.prefix
        && key.withUnsafeBytes { KeyView.compare($0, version.key.bytes) } == 0
      // A version that two layers hold is put out once, as the upper one has it.
      if !isSameKey || version.sequence < oldest { try output(version) }
      if !isSameKey {
        prefix = version.key.prefix
        key.removeAll(keepingCapacity: true)
        key.append(contentsOf: version.key.bytes)
      }
      oldest = version.sequence
      try source.advance()
    }
    return true
  }
}
