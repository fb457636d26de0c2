/// What a view sees of a key range: of each key the newest version at or below a sequence number, deleted keys left out.
final class VisibleCursor {
  // HOT PATH: once per row of every scan. Evidence: Docs/Benchmarks.md, "scan.full".
  // The kinds of cursors a scan can stand on by itself are a closed set, so that no row costs an existential call. Their loops are
  // the same generic code, specialised. What changes lies behind a pointer, so that no row costs an exclusivity check.
  private enum Source {
    case memory(MemoryCursor)
    case disk(DiskCursor)
    case merged(MergedCursor)
  }

  private let source: Source
  private let scan: UnsafeMutablePointer<VisibleScan>

  /// - Parameters:
  ///   - cursors: Top first. They belong to this one from now on.
  ///   - reverse: Whether the last key comes first.
  init(_ cursors: [any VersionCursor], range: KeyRange, at sequence: UInt64, reverse: Bool = false) {
    source =
      switch cursors.count == 1 ? cursors[0] : nil {
      case let cursor as MemoryCursor: .memory(cursor)
      case let cursor as DiskCursor: .disk(cursor)
      case let cursor as MergedCursor: .merged(cursor)
      default: .merged(MergedCursor(cursors))
      }
    scan = .allocate(capacity: 1)
    scan.initialize(to: VisibleScan(range: range, sequence: sequence, reverse: reverse))
  }

  deinit {
    scan.pointee.giveBack()
    scan.deinitialize(count: 1)
    scan.deallocate()
  }

  /// The next key's version; nil behind the last, and from then on. Valid until the next call.
  ///
  /// After an error the scan has ended.
  @inline(__always)
  func next() throws(StoreError) -> VersionView? {
    switch source {
    case .memory(let cursor): try scan.pointee.next(cursor)
    case .disk(let cursor): try scan.pointee.next(cursor)
    case .merged(let cursor): try scan.pointee.next(cursor)
    }
  }
}
