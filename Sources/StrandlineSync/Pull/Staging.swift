internal import StrandlineProtocol

/// Pages of an unfinished pull, in the order in which they came.
///
/// A page is kept in parts, since a row of the store has at most 16 MiB.
enum Staging {
  /// A part is closed once its entries are about this large.
  static let partByteCountMax = 2 << 20

  static func stage(_ page: PullAnswer, _ state: inout SyncState) throws {
    let number = try state.draw(.nextPage)
    for (part, body) in parts(page).enumerated() {
      try state.store.put(
        ["page": .int(number), "part": .int(Int64(part)), "body": body.json], into: StateTable.pages)
    }
  }

  /// Gives all staged parts to `body`, in order.
  ///
  /// - Throws: ``SyncErrorCode/json`` for one that does not decode.
  static func forEach(_ state: inout SyncState, _ body: (PullAnswer, inout SyncState) throws -> Void) throws {
    guard try isInUse(&state) else { return }
    let numbers = try state.store.query(StateTable.pages).select("page", "part").all()
    for row in numbers {
      guard let page = row["page"], let part = row["part"],
        let stored = try state.store.get(key: [page, part], in: StateTable.pages)
      else { continue }
      try body(try decode(stored["body"] ?? .null), &state)
    }
  }

  static func decode(_ body: Value) throws(SyncError) -> PullAnswer {
    do throws(MessageDefect) {
      return try PullAnswer(json: body)
    } catch {
      throw SyncError(error, in: "a staged page")
    }
  }

  /// Whether anything may be staged. A look at the pages themselves would have the store sort what the commit has written so far.
  private static func isInUse(_ state: inout SyncState) throws -> Bool { try state.meta(.nextPage) != nil }

  static func clear(_ state: inout SyncState) throws {
    guard try isInUse(&state) else { return }
    try state.clear(StateTable.pages, keys: ["page", "part"])
    try state.setMeta(.nextPage, nil)
    try state.setMeta(.pageHistory, nil)
  }

  /// The page cut into parts that can be stored; applied one after the other they do what the page does.
  private static func parts(_ page: PullAnswer) -> [PullAnswer] {
    var parts: [PullAnswer] = []
    var part = PullAnswer(cursor: page.cursor, hasMore: true)
    var byteCount = 0
    func close(_ added: Int) {
      byteCount += added
      guard byteCount >= partByteCountMax else { return }
      parts.append(part)
      part = PullAnswer(cursor: page.cursor, hasMore: true)
      byteCount = 0
    }
    for row in page.rows {
      part.rows.append(row)
      close(Value.object(row.row).weight)
    }
    for tombstone in page.tombstones {
      part.tombstones.append(tombstone)
      close(128)
    }
    for conflict in page.conflicts {
      part.conflicts.append(conflict)
      close(128 + conflict.loserValue.weight)
    }
    parts.append(part)
    return parts
  }
}
