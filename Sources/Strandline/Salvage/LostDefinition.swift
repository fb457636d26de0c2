/// What the facts of a new store need of the definition of a table, and what is lost of it.
///
/// The numbers stay taken: nothing else gets them, and cells are there under names that tell of it.
public struct LostDefinition: Hashable, Sendable {
  public struct Column: Hashable, Sendable {
    public var number: UInt16
    /// `lost_column_` and the number. A schema may rename it.
    public var name: String
    /// Cells that are there under it.
    public var cellCount: Int
  }

  public var tableNumber: UInt16
  /// The table's name; `lost_table_` and the number where that is lost too.
  public var table: String
  /// Whether nothing is left of the definition: then the keys of its rows are bytes, in a column `lost_key`.
  public var isWhole: Bool
  /// Rows that are there and lack something of their definition.
  public var rowCount: Int
  public var columns: [Column]
  /// Numbers of indexes whose entries were dropped.
  public var indexes: [UInt16]
}

extension Catalog {
  /// Gives what `unnamed` found definitions that take its numbers, so that nothing else gets them.
  ///
  /// Columns that are there become columns of any type, a table without a definition one that is keyed by bytes; what lies between becomes a
  /// dropped column, and indexes become dropped ones.
  func naming(_ unnamed: UnnamedNumbers) -> (catalog: Catalog, changed: [TableDefinition], lost: [LostDefinition]) {
    var changed: [TableDefinition] = []
    var lost: [LostDefinition] = []
    var names = Set(all.filter { !$0.isDropped }.map { ExactName($0.name) })
    let known = Dictionary(uniqueKeysWithValues: all.map { ($0.number, $0) })
    for (number, found) in unnamed.byTable.sorted(by: { $0.key < $1.key }) {
      var table =
        known[number] ?? TableDefinition(lost: number, name: Self.free("lost_table_\(number)", among: &names))
      let columns = table.take(columns: found.cellCounts)
      let indexes = found.indexes.sorted()
      table.take(indexes: indexes)
      changed.append(table)
      lost.append(
        LostDefinition(
          tableNumber: number, table: table.name, isWhole: known[number] == nil, rowCount: found.rowCount,
          columns: columns, indexes: indexes))
    }
    return (Catalog(all + changed), changed, lost)
  }

  /// `name`, or with strokes behind it one that is not in `taken`.
  fileprivate static func free(_ name: String, among taken: inout Set<ExactName>) -> String {
    var name = name
    while !taken.insert(ExactName(name)).inserted { name += "_" }
    return name
  }
}

extension TableDefinition {
  /// A table of whose definition nothing is left but the number. The first column of any table is one of its key.
  fileprivate init(lost number: UInt16, name: String) {
    let key = KeyColumn("lost_key", .bytes)
    self.init(
      number: number, name: name, key: [key],
      columns: [ColumnDefinition(number: 0, name: key.name, type: .bytes, isNullable: false)], indexes: [],
      allowsOtherColumns: true, isDropped: false)
  }

  /// - Parameter cellCounts: by number; those that are taken already are left alone.
  fileprivate mutating func take(columns cellCounts: [UInt16: Int]) -> [LostDefinition.Column] {
    var names = Set(columns.filter { !$0.isDropped }.map { ExactName($0.name) })
    var taken: [LostDefinition.Column] = []
    guard let last = cellCounts.keys.max() else { return [] }
    while columns.count <= last {
      let number = UInt16(columns.count)
      let count = cellCounts[number]
      let name = Catalog.free("lost_column_\(number)", among: &names)
      columns.append(
        ColumnDefinition(number: number, name: name, type: .any, isNullable: true, isDropped: count == nil))
      if let count { taken.append(LostDefinition.Column(number: number, name: name, cellCount: count)) }
    }
    return taken
  }

  fileprivate mutating func take(indexes numbers: [UInt16]) {
    guard let last = numbers.last else { return }
    while indexes.count <= last {
      let number = UInt16(indexes.count)
      indexes.append(IndexDefinition(number: number, name: "lost_index_\(number)", columns: [], state: .dropped))
    }
  }
}
