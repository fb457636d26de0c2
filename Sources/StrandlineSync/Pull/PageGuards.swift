internal import StrandlineProtocol

/// Checks a page before anything of it is kept.
///
/// A cursor and a `seq` are any texts: they are kept and sent back as they came.
enum PageGuards {
  /// - Throws: ``SyncErrorCode/json`` for a row that no table can hold, or that is not the row of its key.
  static func check(_ page: PullAnswer, of tables: ClientTables) throws(SyncError) {
    for entry in page.rows {
      if !entry.isDeleted { try WireRow.check(entry.row, "a pulled row of \(entry.table)") }
      guard let table = tables.find(entry.table) else { continue }
      try WireRow.check(pk: entry.pk, of: table)
      if !entry.isDeleted { try WireRow.check(entry.row, isRowOf: entry.pk, table) }
    }
    for entry in page.tombstones {
      if let table = tables.find(entry.table) { try WireRow.check(pk: entry.pk, of: table) }
    }
  }

  /// How many rows and tombstones are of tables that were asked for.
  static func rowCount(_ page: PullAnswer, of tables: ClientTables) -> Int {
    page.rows.count { tables.find($0.table) != nil } + page.tombstones.count { tables.find($0.table) != nil }
  }
}
