/// Some columns of a table.
public enum ColumnSet: Hashable, Sendable {
  case all
  case only(Set<String>)
  case allBut(Set<String>)

  public func contains(_ column: String) -> Bool {
    switch self {
    case .all: true
    case .only(let columns): columns.contains(column)
    case .allBut(let columns): !columns.contains(column)
    }
  }
}

/// What a role may do with the columns of a table.
public struct ColumnPrivileges: Hashable, Sendable {
  /// Columns that are rendered for the role; to it all others are not there, in preconditions and bucket params too.
  public var readable: ColumnSet
  /// Columns that the role may name in a write.
  public var writable: ColumnSet

  public init(readable: ColumnSet = .all, writable: ColumnSet = .all) {
    self.readable = readable
    self.writable = writable
  }
}
