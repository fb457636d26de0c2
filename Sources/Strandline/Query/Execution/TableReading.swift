/// The rows of one table at one moment, as queries read them: what a view or a transaction hands to the query executor.
///
/// Everything asked of one reader must belong to one state. Rows lie under `KeyPrefix(.row, table: table.number)`, index entries under
/// `KeyPrefix(.index, table: table.number)`; ranges never leave one of the two.
protocol TableReading {
  associatedtype Cursor: TableCursor

  var table: TableDefinition { get }

  /// Copies the value of a key into the buffer; false: there is none.
  func find(_ key: KeyView, into buffer: inout ValueBuffer) throws(StoreError) -> Bool

  /// The live keys of the range, one version of each; `reverse`: from the last to the first.
  func cursor(over range: KeyRange, reverse: Bool) throws(StoreError) -> Cursor
}

protocol TableCursor {
  /// Valid until the next call; its value is never nil.
  mutating func next() throws(StoreError) -> VersionView?
}

extension VisibleCursor: TableCursor {}
