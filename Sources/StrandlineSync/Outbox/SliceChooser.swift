internal import StrandlineProtocol

/// What one push sends.
struct Slice: Sendable {
  /// Most entries of a slice that is no batch.
  static let entryCountMax = 500
  /// About the most bytes of the entries of a slice that is no batch and has more than one: half of what servers take.
  static let byteCountMax = 4 << 20

  /// From the head of the queue on; never empty.
  var entries: [OutboxEntry]
  /// Whether it is one atomic batch.
  var isAtomic: Bool

  /// Whether what becomes of the slice becomes of one write.
  var isOwned: Bool { isAtomic || entries.count == 1 }
}

enum SliceChooser {
  /// Chooses the next slice: the whole batch at the head, or the leading entries that belong to none.
  ///
  /// - Parameters:
  ///   - queue: from the head on, read as far as needed.
  ///   - countMax: most entries of a slice that is no batch.
  ///   - byteCount: about how many bytes an entry is in a request.
  /// - Returns: nil where nothing is queued.
  static func choose(
    _ queue: () throws -> OutboxEntry?, countMax: Int = Slice.entryCountMax, byteCount: (OutboxEntry) -> Int
  ) rethrows -> Slice? {
    guard let head = try queue() else { return nil }
    var slice = Slice(entries: [head], isAtomic: head.batchID != nil)
    var total = slice.isAtomic ? 0 : byteCount(head)
    while slice.isAtomic || slice.entries.count < countMax && total < Slice.byteCountMax {
      guard let entry = try queue(), entry.batchID == head.batchID else { break }
      if !slice.isAtomic {
        total += byteCount(entry)
        if total > Slice.byteCountMax { break }
      }
      slice.entries.append(entry)
    }
    return slice
  }
}
