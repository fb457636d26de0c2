internal import StrandlineProtocol

extension SyncState {
  /// The row as it is kept; nil where there is none.
  mutating func row(_ name: RowName) throws -> RowImage? {
    try store.get(key: [.string(name.pk)], in: name.table).map { RowImage($0, of: tables.known(name.table)) }
  }

  /// Makes this the row.
  mutating func put(_ image: RowImage, at name: RowName) throws {
    try writer.put(image, at: name, of: tables.known(name.table), &store)
    touch(name)
  }

  mutating func remove(_ name: RowName) throws {
    try store.delete(key: [.string(name.pk)], from: name.table)
    touch(name)
  }

  /// Makes this the row, as the server or an earlier moment has it; columns that are this device's own stay as they are.
  mutating func install(_ columns: [String: Value], seq: String = RowImage.localSeq, at name: RowName) throws {
    var image = RowImage(columns, seq: seq)
    if !tables.localOnlyColumns.isEmpty, let present = try row(name) {
      for column in tables.localOnlyColumns { image.columns[column] = present.columns[column] }
    }
    try put(image, at: name)
  }

  // MARK: Tombstones

  mutating func hasTombstone(_ name: RowName) throws -> Bool {
    try store.get(key: [.string(name.table), .string(name.pk)], in: StateTable.tombstones) != nil
  }

  mutating func putTombstone(_ name: RowName, seq: String = RowImage.localSeq, deletedAt: String? = nil) throws {
    var row: Row = ["table": .string(name.table), "pk": .string(name.pk), "seq": .string(seq)]
    if let deletedAt { row["deleted_at"] = .string(deletedAt) }
    try store.put(row, into: StateTable.tombstones)
  }

  mutating func clearTombstone(_ name: RowName) throws {
    try store.delete(key: [.string(name.table), .string(name.pk)], from: StateTable.tombstones)
  }

  /// Takes the row out and leaves a local shadow.
  mutating func shadow(_ name: RowName) throws {
    try remove(name)
    try putTombstone(name)
  }

  /// Takes everything out of a table of the client's own.
  mutating func clear(_ table: String, keys columns: [String]) throws {
    let rows = try store.query(table).all()
    for row in rows { try store.delete(key: columns.map { row[$0] ?? .null }, from: table) }
  }
}
