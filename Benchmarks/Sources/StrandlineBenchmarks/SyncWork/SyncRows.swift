internal import StrandlineSync

/// The rows of ``RowGenerator`` as a sync client has them: six typed columns by name, under the row's UUID.
enum SyncRows {
  static let table = "todos"

  /// Rows of some version, ready to be handed over.
  static func entries(_ indices: [Int], version: UInt32, from number: Int) -> [PullAnswer.RowEntry] {
    let batch = RowBatch(indices: indices, version: version)
    return (0..<batch.count).map { place in
      let (pk, columns) = row(batch[place])
      return PullAnswer.RowEntry(table: table, pk: pk, row: columns, seq: String(number + place))
    }
  }

  static func row(_ row: UnsafeRawBufferPointer) -> (pk: String, columns: [String: Value]) {
    let bytes = row.baseAddress!
    let title = text(bytes + RowGenerator.titleOffset)
    let note = text(title.end)
    let columns: [String: Value] = [
      "list": .string(uuid(bytes + RowGenerator.listOffset)),
      "created": .int(Int64((bytes + RowGenerator.createdOffset).loadUnaligned(as: UInt64.self))),
      "updated": .int(Int64((bytes + RowGenerator.updatedOffset).loadUnaligned(as: UInt64.self))),
      "status": .int(Int64((bytes + RowGenerator.statusOffset).load(as: UInt8.self))), "title": .string(title.text),
      "note": .string(note.text),
    ]
    return (uuid(bytes + RowGenerator.keyOffset), columns)
  }

  /// A length of one byte, then that many.
  private static func text(_ bytes: UnsafeRawPointer) -> (text: String, end: UnsafeRawPointer) {
    let count = Int(bytes.load(as: UInt8.self))
    let text = String(decoding: UnsafeRawBufferPointer(start: bytes + 1, count: count), as: UTF8.self)
    return (text, bytes + 1 + count)
  }

  private static func uuid(_ bytes: UnsafeRawPointer) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for place in 0..<16 {
      if [4, 6, 8, 10].contains(place) { text.append(UInt8(ascii: "-")) }
      let byte = (bytes + place).load(as: UInt8.self)
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Pages of so many rows; all but the last say that more follow, or each closes a pull of its own.
func syncPages(_ entries: [PullAnswer.RowEntry], rowsPerPage: Int, closesEach: Bool) -> [PullAnswer] {
  stride(from: 0, to: entries.count, by: rowsPerPage).map { start in
    let end = min(start + rowsPerPage, entries.count)
    let isLast = closesEach || end == entries.count
    let cursor = isLast ? entries[end - 1].seq : "0:\(entries[end - 1].seq)"
    return PullAnswer(cursor: cursor, hasMore: !isLast, rows: Array(entries[start..<end]))
  }
}
