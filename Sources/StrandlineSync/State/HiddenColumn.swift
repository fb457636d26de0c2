/// Columns of application tables that are the client's own. The store shows them to nobody who does not name them.
enum HiddenColumn {
  /// The table's primary key: the key's text.
  static let pk = "\u{1}pk"
  /// The number under which the server sent the row; "0" for a row that was written here or came with a verdict.
  static let seq = "\u{1}seq"
  /// True where the lone key column was not written, and stands in the row for queries only.
  static let isKeyless = "\u{1}keyless"

  static func isHidden(_ name: String) -> Bool { name.utf8.first == 1 }
}
