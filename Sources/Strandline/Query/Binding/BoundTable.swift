/// A table's columns by their names.
struct BoundTable: ColumnResolving {
  let definition: TableDefinition
  private let references: [ExactName: ColumnReference]
  private let types: [ColumnReference: ColumnType]
  private let nonNullable: Set<ColumnReference>
  /// Names of columns that are neither dropped nor in the key, by number.
  private let names: [UInt16: String]
  /// Columns that only who names them sees: not `search`, not a row as a whole. Their names begin with U+0001.
  private let hidden: Set<UInt16>
  /// Places in the key of the columns that are not hidden.
  let shownKeyPlaces: [Int]
  /// Places in the key of the columns that have numbers too; rows do not repeat what the key tells.
  private let keyPlaces: [UInt16: Int]
  /// All columns but hidden ones, ascending by the bytes of their names.
  let columnsByName: [(name: String, reference: ColumnReference)]
  /// All columns, ascending by the bytes of their names.
  let everyColumnByName: [(name: String, reference: ColumnReference)]
  /// The key's columns and then the others by number, as a csv header has them.
  let columnsInOrder: [(name: String, reference: ColumnReference)]

  init(_ definition: TableDefinition) {
    self.definition = definition
    var columns: [(name: String, reference: ColumnReference)] = []
    var types: [ColumnReference: ColumnType] = [:]
    var nonNullable: Set<ColumnReference> = []
    var names: [UInt16: String] = [:]
    var keyPlaces: [UInt16: Int] = [:]
    var hidden: Set<UInt16> = []
    for (place, column) in definition.key.enumerated() {
      columns.append((column.name, .key(place)))
      types[.key(place)] = column.type.columnType
      nonNullable.insert(.key(place))
    }
    for column in definition.columns where !column.isDropped {
      if let place = definition.key.firstIndex(where: { UTF8Order.areEqual($0.name, column.name) }) {
        keyPlaces[column.number] = place
        continue
      }
      let reference = ColumnReference.stored(column.number)
      columns.append((column.name, reference))
      types[reference] = column.type
      names[column.number] = column.name
      if column.name.isHiddenColumnName { hidden.insert(column.number) }
      if !column.isNullable { nonNullable.insert(reference) }
    }
    self.types = types
    self.nonNullable = nonNullable
    self.names = names
    self.keyPlaces = keyPlaces
    references = Dictionary(
      columns.map { (ExactName($0.name), $0.reference) }, uniquingKeysWith: { first, _ in first })
    self.hidden = hidden
    shownKeyPlaces = definition.key.indices.filter { !definition.key[$0].name.isHiddenColumnName }
    columnsInOrder = columns.filter { !$0.name.isHiddenColumnName }
    columnsByName = columnsInOrder.sorted { UTF8Order.compare($0.name, $1.name) < 0 }
    everyColumnByName = columns.sorted { UTF8Order.compare($0.name, $1.name) < 0 }
  }

  func column(named name: String) throws(StoreError) -> ColumnReference {
    if let reference = references[ExactName(name)] { return reference }
    if definition.allowsOtherColumns { return .absent }
    throw .unknownColumn(table: definition.name, column: name)
  }

  func type(of column: ColumnReference) -> ColumnType { types[column] ?? .any }

  func isNullable(_ column: ColumnReference) -> Bool { !nonNullable.contains(column) }

  /// The column of a number, as an index has it.
  func reference(of column: UInt16) -> ColumnReference { keyPlaces[column].map { .key($0) } ?? .stored(column) }

  /// Whether `search` looks at the cells of a stored column.
  func isSearched(_ column: UInt16) -> Bool { names[column] != nil && !hidden.contains(column) }

  /// For messages and `explain`.
  func name(of column: ColumnReference) -> String {
    switch column {
    case .key(let place): definition.key[place].name
    case .stored(let number): names[number] ?? "column \(number)"
    case .absent: "an absent column"
    }
  }

  func operand(_ value: Value, for column: ColumnReference) -> Value {
    let type = type(of: column)
    guard type != .any, let rank = value.type, rank != type else { return value }
    switch (value, type) {
    // Numbers compare with each other as they are.
    case (.int, .decimal), (.int, .double), (.decimal, .int), (.decimal, .double), (.double, .int), (.double, .decimal):
      return value
    default: return value.converted(to: type) ?? value
    }
  }
}

extension String {
  /// Whether it names a column of the kind that what is built on the store keeps beside an application's own: found by its name alone.
  var isHiddenColumnName: Bool { utf8.first == 1 }
}
