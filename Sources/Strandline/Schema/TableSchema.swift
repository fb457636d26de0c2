/// The tables an application expects, given at open.
public struct Schema: Hashable, Sendable {
  public var tables: [TableSchema]
  /// Names of tables that are to go. Hidden at once; compaction removes their rows. A name that is not there is fine.
  public var dropped: [String]

  public init(tables: [TableSchema], dropped: [String] = []) {
    self.tables = tables
    self.dropped = dropped
  }
}

/// One table as an application declares it.
///
/// A table, a nullable column, an index may be added at any open. What is stored and not declared stays: an application of an older version
/// can go on with a store that a newer one has opened.
public struct TableSchema: Hashable, Sendable {
  public var name: String
  /// At least one column, in key order. Cannot be changed later.
  public var key: [KeyColumn]
  /// Besides the key columns.
  public var columns: [ColumnSchema]
  public var indexes: [IndexSchema]
  /// Whether rows may have columns that are not declared, of any type.
  public var allowsOtherColumns: Bool
  /// The table's name before, if it has another one now.
  public var renamedFrom: String?
  /// Names of columns and indexes that are to go.
  public var droppedColumns: [String] = []
  public var droppedIndexes: [String] = []

  public init(
    _ name: String, key: [KeyColumn], columns: [ColumnSchema] = [], indexes: [IndexSchema] = [],
    allowsOtherColumns: Bool = false, renamedFrom: String? = nil
  ) {
    self.name = name
    self.key = key
    self.columns = columns
    self.indexes = indexes
    self.allowsOtherColumns = allowsOtherColumns
    self.renamedFrom = renamedFrom
  }
}

/// A column of the primary key. Never null.
public struct KeyColumn: Hashable, Sendable {
  public var name: String
  public var type: KeyType

  public init(_ name: String, _ type: KeyType) {
    self.name = name
    self.type = type
  }
}

/// What a key column can hold. Keys are ordered by number, by the bytes of the text, by the bytes.
public enum KeyType: String, Hashable, Sendable, CaseIterable {
  case int
  case string
  case uuid
  case bytes
  case timestamp

  var columnType: ColumnType {
    switch self {
    case .int: .int
    case .string: .string
    case .uuid: .uuid
    case .bytes: .bytes
    case .timestamp: .timestamp
    }
  }
}

/// A column besides the key.
public struct ColumnSchema: Hashable, Sendable {
  public var name: String
  public var type: ColumnType
  /// Whether rows may lack it or have null in it. A column that is added to a table that is there has to be.
  public var isNullable: Bool
  /// The column's name before, if it has another one now.
  public var renamedFrom: String?

  public init(_ name: String, _ type: ColumnType, isNullable: Bool = true, renamedFrom: String? = nil) {
    self.name = name
    self.type = type
    self.isNullable = isNullable
    self.renamedFrom = renamedFrom
  }
}

/// A secondary index: rows by the values of one or more columns.
public struct IndexSchema: Hashable, Sendable {
  public var name: String
  /// One to eight, the most significant first; key columns may be among them.
  public var columns: [String]

  public init(_ name: String, _ columns: [String]) {
    self.name = name
    self.columns = columns
  }
}
