/// A table whose names have been looked up: for work on many rows, which meets no name and makes no ``Row`` on its way.
///
/// ``ReadView/table(_:)`` and ``Transaction/table(_:)`` give one. It may be kept and used in every later view and transaction of its
/// store.
///
/// ```swift
/// let todos = try store.view().table("todos")
/// let title = try todos.column("title")
/// var cells = RowCells()
/// try store.write { tx in
///   for (id, text) in fetched {
///     cells.removeAll()
///     try cells.set(title, .string(text))
///     try tx.put(id, cells, into: todos)
///   }
/// }
/// let rows = try store.view().rows()
/// try rows.scan(todos) { row in print(try row.value(of: title) ?? .null); return true }
/// ```
public struct PreparedTable: Sendable {
  let tables: Tables
  let table: Table

  init(_ name: String, in tables: Tables) throws(StoreError) {
    self.tables = tables
    table = try tables.named(name)
  }

  public var name: String { table.name }

  /// A column that is no part of the key.
  ///
  /// - Throws: ``StoreError/unknownColumn(table:column:)``, also for columns of the key: ``StoredRowView/key`` has them.
  public func column(_ name: String) throws(StoreError) -> PreparedColumn {
    guard let column = table.column(name), !table.keyNames.containsExactly(name) else {
      throw .unknownColumn(table: table.name, column: name)
    }
    return PreparedColumn(table: table, definition: column)
  }

  /// The table as `now` has it, which is mostly the one that was looked up.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)`` if it was dropped since.
  @inline(__always)
  func table(in now: Tables) throws(StoreError) -> Table {
    if now === tables { return table }
    guard let table = now.numbered(table.definition.number), !table.definition.isDropped else {
      throw .unknownTable(table.name)
    }
    return table
  }
}

/// A column whose name has been looked up. Of one ``PreparedTable``.
public struct PreparedColumn: Sendable {
  let table: Table
  let definition: ColumnDefinition

  public var name: String { definition.name }
  public var type: ColumnType { definition.type }

  @inline(__always)
  var number: UInt16 { definition.number }
}

extension ReadView {
  /// A table with its names looked up once.
  ///
  /// - Throws: ``StoreError/unknownTable(_:)``.
  public func table(_ name: String) throws(StoreError) -> PreparedTable {
    try PreparedTable(name, in: snapshot.state.tables)
  }
}

extension Table {
  /// - Throws: ``StoreError/invalidKey(table:reason:)`` if the key is not one column of type `uuid`.
  @inline(__always)
  func requireUUIDKey() throws(StoreError) {
    guard isKeyedByUUID else { throw .invalidKey(table: name, reason: "it is not one column of type uuid") }
  }

  /// The stored key of a row whose key is one column of type `uuid`, for as long as `body` runs.
  @inline(__always)
  func withKey<Result, Failure: Error>(
    _ uuid: UUIDBytes, _ body: (KeyView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var bytes = (uuid.high.bigEndian, uuid.low.bigEndian)
    return try withUnsafeBytes(of: &bytes) { (bytes) throws(Failure) in
      try body(KeyView(prefix: rowPrefix, bytes: bytes))
    }
  }
}
