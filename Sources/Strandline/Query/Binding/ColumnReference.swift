/// Where a column's cells are found in a stored row.
enum ColumnReference: Hashable, Sendable {
  /// In the primary key, by place.
  case key(Int)
  /// In the row, by column number.
  case stored(UInt16)
  /// Nowhere: no row has it.
  case absent
}

/// Finds the columns that a query names.
protocol ColumnResolving {
  /// - Throws: ``StoreError/unknownColumn(table:column:)`` for a name that the table's rows cannot have.
  func column(named name: String) throws(StoreError) -> ColumnReference
  /// The operand as the column's cells are stored: a uuid written as a string, for one, becomes a uuid on a column of uuids.
  func operand(_ value: Value, for column: ColumnReference) -> Value
}

/// Gives the cells of one row.
protocol CellReading {
  /// Null where the row has no such cell.
  mutating func value(of column: ColumnReference) throws(StoreError) -> Value
  /// Whether the body answers true for some cell, asked until it does.
  mutating func hasValue(where body: (Value) -> Bool) throws(StoreError) -> Bool
}
