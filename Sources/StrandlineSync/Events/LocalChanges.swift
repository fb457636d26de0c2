/// Which rows a commit touched, for whoever has to look again.
public struct LocalChanges: Hashable, Sendable {
  /// Rows that are named one by one; beyond it only their tables are.
  public static let rowCountMax = 1000

  /// What is known of one table.
  public enum Rows: Hashable, Sendable {
    /// These keys, by ``SyncClient``'s key texts.
    case keys(Set<String>)
    /// Any of them.
    case any
  }

  /// By table; none: nothing that can be seen changed.
  public private(set) var tables: [String: Rows] = [:]
  private var rowCount = 0

  public init() {}

  mutating func insert(_ name: RowName) {
    switch tables[name.table] {
    case .any?: return
    case .keys(var keys)?:
      // Taken out first, so that the set is not copied.
      tables[name.table] = .any
      if keys.insert(name.pk).inserted { rowCount += 1 }
      tables[name.table] = .keys(keys)
    case nil:
      tables[name.table] = rowCount > Self.rowCountMax ? .any : .keys([name.pk])
      rowCount += 1
    }
    if rowCount == Self.rowCountMax + 1 { for table in tables.keys { tables[table] = .any } }
  }

  /// Rows of the table as a whole.
  mutating func insert(table: String) { tables[table] = .any }
}
