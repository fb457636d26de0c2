/// The candidates of a pull as one stream, ordered by number, table and key: undelivered change entries of the tables and bucket values asked
/// for, and their tombstones where the caller holds the grant.
struct FeedMerge {
  /// One kind of entry of one table's bucket value.
  private struct Lane {
    var kind: FeedEntry.Kind
    var table: String
    var bucket: String
    /// Ascending; the first is the next one.
    var entries: ArraySlice<FeedEntry> = []
    /// Where to read on; nil: at the end.
    var next: Int64?
    var chunkCount = FeedMerge.chunkCountMin
  }

  struct Candidate {
    var entry: FeedEntry
    var bucket: String
  }

  private static let chunkCountMin = 8
  private static let chunkCountMax = 512

  private let state: any ServerState
  private let cursor: CursorToken
  private var lanes: [Lane] = []

  init(
    _ scope: RequestedScope, _ state: any ServerState, after cursor: CursorToken, userID: String
  ) throws(ServerStorageFailure) {
    self.state = state
    self.cursor = cursor
    let first = cursor.firstUndelivered(from: 1)
    for requested in scope.tables.values {
      for bucket in requested.buckets {
        lanes.append(Lane(kind: .change, table: requested.name, bucket: bucket.text, next: first))
        // The grants of the page's begin; those that it adds count from the next on.
        let grant = DeliveryGrant(userID: userID, table: requested.name, bucket: bucket.text)
        guard try state.holds(grant) else { continue }
        lanes.append(Lane(kind: .tombstone, table: requested.name, bucket: bucket.text, next: first))
      }
    }
  }

  /// The next entry; nil at the end.
  mutating func next() throws(ServerStorageFailure) -> Candidate? {
    var first: Int?
    for index in lanes.indices {
      try fill(index)
      guard let entry = lanes[index].entries.first else { continue }
      if let best = first, let other = lanes[best].entries.first, !Self.precedes(entry, other) { continue }
      first = index
    }
    guard let first, let entry = lanes[first].entries.popFirst() else { return nil }
    return Candidate(entry: entry, bucket: lanes[first].bucket)
  }

  /// Reads on until the lane's first entry is one that has not been delivered.
  private mutating func fill(_ index: Int) throws(ServerStorageFailure) {
    while true {
      if let entry = lanes[index].entries.first {
        guard let wanted = cursor.firstUndelivered(from: entry.number) else {
          lanes[index].entries = []
          lanes[index].next = nil
          return
        }
        if wanted == entry.number { return }
        lanes[index].entries = lanes[index].entries.drop { $0.number < wanted }
        // A hostile cursor has many holes: whoever jumps reads little ahead.
        lanes[index].chunkCount = Self.chunkCountMin
        if lanes[index].entries.isEmpty, let next = lanes[index].next { lanes[index].next = max(next, wanted) }
        continue
      }
      guard let next = lanes[index].next else { return }
      let lane = lanes[index]
      let chunk = try state.feed(
        lane.kind, of: lane.table, bucket: lane.bucket, from: next, count: lane.chunkCount)
      lanes[index].entries = chunk[...]
      lanes[index].chunkCount = min(lane.chunkCount * 2, Self.chunkCountMax)
      guard chunk.count == lane.chunkCount, let last = chunk.last, last.number < .max else {
        lanes[index].next = nil
        continue
      }
      lanes[index].next = last.number + 1
    }
  }

  private static func precedes(_ left: FeedEntry, _ right: FeedEntry) -> Bool {
    if left.number != right.number { return left.number < right.number }
    if !left.row.table.isSame(as: right.row.table) { return left.row.table.isOrdered(before: right.row.table) }
    return left.row.pk.isOrdered(before: right.row.pk)
  }
}
