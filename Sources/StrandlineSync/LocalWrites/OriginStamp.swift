internal import StrandlineProtocol

/// Makes the stamps of this device's writes, each above the one before.
enum OriginStamp {
  /// How far a kept stamp may be ahead of the clock.
  static let leadMax: Int64 = 3_600_000

  /// The stamp behind `last`.
  ///
  /// - Parameters:
  ///   - last: the stamp before; nil: this is the first.
  ///   - now: milliseconds since 1970.
  ///   - node: this device's; asked for the first stamp only.
  static func next(after last: HybridTimestamp?, now: Int64, node: () -> String) -> HybridTimestamp {
    guard let last else { return HybridTimestamp(milliseconds: now, counter: 0, node: node()) }
    let (limit, overflow) = now.addingReportingOverflow(leadMax)
    if !overflow, last.milliseconds > limit {
      return HybridTimestamp(milliseconds: now, counter: 0, node: last.node)
    }
    if now > last.milliseconds { return HybridTimestamp(milliseconds: now, counter: 0, node: last.node) }
    return HybridTimestamp(milliseconds: last.milliseconds, counter: last.counter &+ 1, node: last.node)
  }
}
