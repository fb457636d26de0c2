/// One way in which a declared schema cannot be reached from the stored one without being told how.
public enum SchemaDifference: Hashable, Sendable {
  case keyChanged(table: String, stored: String, declared: String)
  case columnTypeChanged(table: String, column: String, stored: String, declared: String)
  /// A column that rows may lack was declared as one that they must have.
  case columnBecameRequired(table: String, column: String)
  case renameOfUnknown(table: String, from: String)
}
