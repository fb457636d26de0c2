/// What a column may be called and how many a row may have: one rule for clients and servers, so that no server stores what no client
/// holds.
public enum ColumnRules {
  /// Bytes of a name, zero bytes counted thrice as keys of a storage do.
  public static let nameByteCountMax = 256
  /// Columns of one row. A client's table holds 4,096 names over its whole life, its own few included.
  public static let countMax = 4000

  /// Whether a column may have the name: it is not empty, not too long, and does not begin with U+0001, which marks a client's own.
  public static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, first != 1 else { return false }
    return text.utf8.reduce(0) { $0 + ($1 == 0 ? 3 : 1) } <= nameByteCountMax
  }
}
