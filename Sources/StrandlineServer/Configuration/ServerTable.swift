/// One table as the server offers it.
public struct ServerTable: Sendable {
  /// The column whose text says to which bucket a row belongs; nil: the table is one for all.
  public var bucketColumn: String?
  /// In key order. Default `["id"]`.
  public var keyColumns: [String]
  /// One for each key column; nil: a component is any text.
  public var keyTypes: [KeyComponentType]?
  public var conflictMode: ConflictMode
  /// Whether values that lost are noted and delivered with the row that replaced them.
  public var keepsJournal: Bool
  /// To the server a column like others; it counts among the known ones.
  public var softDeleteColumn: String?
  /// Whether every push to the table is refused.
  public var isPullOnly: Bool
  /// Columns that there are; to name another is ``RejectionReason/columnDenied``. Key, bucket and soft-delete column always belong to them.
  public var columns: ColumnSet
  /// Columns that nobody may write by a push.
  public var deniedColumns: Set<String>
  /// By role; a role that is not named may read and write every column.
  public var privileges: [String: ColumnPrivileges]
  public var policy: RowPolicy
  /// Whether a row may be stored as it would become; no is ``RejectionReason/constraint``. Nil: any row.
  public var rule: (@Sendable (PolicyRow) -> Bool)?
  /// Clients of a lower schema version are answered ``LifecycleSignal/resetRequired``.
  public var schemaVersionMin: Int64
  /// How long tombstones of the table are kept; nil: as ``ServerConfiguration/tombstoneRetention``.
  public var tombstoneRetention: Duration?
  /// Whether clients of the table may not recover unsynced changes over a client reset.
  public var forbidsRecovery: Bool

  public init(
    bucketColumn: String? = nil, keyColumns: [String] = ["id"], keyTypes: [KeyComponentType]? = nil,
    conflictMode: ConflictMode = .arrival, keepsJournal: Bool = false, softDeleteColumn: String? = nil,
    isPullOnly: Bool = false, columns: ColumnSet = .all, deniedColumns: Set<String> = [],
    privileges: [String: ColumnPrivileges] = [:], policy: RowPolicy = .bucketOwner,
    rule: (@Sendable (PolicyRow) -> Bool)? = nil, schemaVersionMin: Int64 = 0, tombstoneRetention: Duration? = nil,
    forbidsRecovery: Bool = false
  ) {
    self.bucketColumn = bucketColumn
    self.keyColumns = keyColumns
    self.keyTypes = keyTypes
    self.conflictMode = conflictMode
    self.keepsJournal = keepsJournal
    self.softDeleteColumn = softDeleteColumn
    self.isPullOnly = isPullOnly
    self.columns = columns
    self.deniedColumns = deniedColumns
    self.privileges = privileges
    self.policy = policy
    self.rule = rule
    self.schemaVersionMin = schemaVersionMin
    self.tombstoneRetention = tombstoneRetention
    self.forbidsRecovery = forbidsRecovery
  }
}

extension ServerTable {
  /// The components of a key text; nil unless the text is the canonical one of the table.
  @_spi(Scenario) public func keyComponents(of pk: String) -> [String]? {
    guard let components = RowKey.components(of: pk, count: keyColumns.count) else { return nil }
    if let keyTypes {
      for (type, component) in zip(keyTypes, components) where !type.isCanonical(component) { return nil }
    }
    return components
  }

  /// The text of the row's bucket column, empty on a table without one; nil where the cell has no text.
  func bucket(of columns: [String: Value]) -> String? {
    guard let bucketColumn else { return "" }
    return columns[bucketColumn]?.wireText
  }

  func mayWrite(_ column: String, _ role: String) -> Bool {
    guard !deniedColumns.contains(column), privileges[role]?.writable.contains(column) ?? true else { return false }
    return columns.contains(column) || keyColumns.contains(column) || column == bucketColumn
      || column == softDeleteColumn
  }

  /// The columns that the role may read.
  func rendered(_ columns: [String: Value], for role: String) -> [String: Value] {
    guard let privileges = privileges[role], privileges.readable != .all else { return columns }
    return columns.filter { privileges.readable.contains($0.key) }
  }
}
