/// The undelivered feed entries of several tables and bucket values as one stream, ordered by number, table and key.
struct FeedMerge {
  /// One table's bucket value.
  private struct Lane {
    var table: String
    var bucket: String
    /// Ascending; the first is the next one.
    var entries: ArraySlice<FeedEntry> = []
    /// Where to read on; nil: at the end.
    var next: Int64?
    var chunkCount = 32
  }

  struct Candidate {
    var entry: FeedEntry
    var bucket: String
  }

  private static let chunkCountMax = 512

  private let state: any ServerState
  private let cursor: CursorToken
  private var lanes: [Lane] = []

  init(_ scope: RequestedScope, _ state: any ServerState, after cursor: CursorToken) {
    self.state = state
    self.cursor = cursor
    for requested in scope.tables.values {
      for bucket in requested.buckets {
        lanes.append(Lane(table: requested.name, bucket: bucket.text, next: cursor.firstUndelivered(from: 1)))
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
        if lanes[index].entries.isEmpty, let next = lanes[index].next { lanes[index].next = max(next, wanted) }
        continue
      }
      guard let next = lanes[index].next else { return }
      let lane = lanes[index]
      let chunk = try state.feed(of: lane.table, bucket: lane.bucket, from: next, count: lane.chunkCount)
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
