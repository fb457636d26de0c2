@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

/// The rows of a table, one after the other, hidden columns included.
final class RowWalk {
  private let rows: QueryRows
  private let table: ClientTable
  private(set) var current: (pk: String, image: RowImage)?

  init(_ query: Query, _ table: ClientTable) throws {
    var query = query
    query.plan.showsHiddenColumns = true
    rows = try query.rows()
    self.table = table
    try advance()
  }

  func advance() throws {
    guard let row = try rows.next() else {
      current = nil
      return
    }
    guard case .string(let pk)? = row[HiddenColumn.pk] else {
      throw SyncError(.json, "a row of \(table.name) has no key")
    }
    current = (pk, RowImage(row, of: table))
  }

  /// Below zero: the old row comes first; zero: one key, or both at the end.
  static func compare(_ old: RowWalk, _ new: RowWalk) -> Int {
    switch (old.current, new.current) {
    case (nil, nil): 0
    case (nil, _): 1
    case (_, nil): -1
    case (let old?, let new?):
      old.pk.utf8.elementsEqual(new.pk.utf8) ? 0 : old.pk.utf8.lexicographicallyPrecedes(new.pk.utf8) ? -1 : 1
    }
  }
}
