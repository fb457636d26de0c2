@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

// HOT PATH: once per row pulled. Evidence: Docs/Benchmarks.md, "sync.pull.100kInto1M".

/// Writes rows of application tables. Names of columns are looked up once a commit.
struct RowWriter: ~Copyable {
  private final class Columns {
    let table: PreparedTable
    private var known: [ExactName: PreparedColumn] = [:]

    init(_ table: PreparedTable) { self.table = table }

    /// Nil: the table has not had the column yet.
    func column(_ name: String) throws -> PreparedColumn? {
      let exact = ExactName(name)
      if let column = known[exact] { return column }
      do throws(StoreError) {
        let column = try table.column(name)
        known[exact] = column
        return column
      } catch {
        if case .unknownColumn = error { return nil }
        throw error
      }
    }
  }

  private var tables: [ExactName: Columns] = [:]
  private var cells = RowCells()

  mutating func put(_ image: RowImage, at name: RowName, of table: ClientTable, _ store: inout Transaction) throws {
    let exact = ExactName(name.table)
    let columns: Columns
    if let known = tables[exact] {
      columns = known
    } else {
      columns = Columns(try store.table(name.table))
      tables[exact] = columns
    }
    if try fill(image, name.pk, table, columns) {
      try store.put(key: [.string(name.pk)], cells, into: columns.table)
    } else {
      try store.put(image.row(name.pk, of: table), into: name.table)
      tables[exact] = nil
    }
  }

  /// Answers whether the table has all the columns.
  private mutating func fill(_ image: RowImage, _ pk: String, _ table: ClientTable, _ columns: Columns) throws -> Bool {
    cells.removeAll()
    for (name, value) in image.columns {
      guard let column = try columns.column(name) else { return false }
      try cells.set(column, value)
    }
    guard let seq = try columns.column(HiddenColumn.seq) else { return false }
    try cells.set(seq, .string(image.seq))
    if let key = table.loneKey, image.columns[key] == nil {
      guard let column = try columns.column(key), let mark = try columns.column(HiddenColumn.isKeyless) else {
        return false
      }
      try cells.set(column, .string(pk))
      try cells.set(mark, true)
    }
    return true
  }
}
