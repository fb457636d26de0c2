/// The outbox of a loaded store: one row in a hundred was changed here and the server has not answered.
struct LocalChanges {
  let indices: [Int]

  init(rowCount: Int) { indices = Array(RowOrder.shuffled(rowCount, seed: 7).prefix(rowCount / 100)) }

  /// A change is a version of the row's value.
  static let version: UInt32 = 2

  func write(to engine: any StoreEngine) throws {
    let rows = RowBatch(indices: indices, version: Self.version)
    for start in stride(from: 0, to: rows.count, by: 1000) {
      try engine.commit { transaction in
        for place in start..<min(start + 1000, rows.count) {
          try transaction.putPending(
            rows.key(place), sequence: UInt64(place) + 1, change: RowBytes.value(rows[place]))
        }
      }
    }
  }
}
