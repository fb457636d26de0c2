/// Two questions about one row: may the caller read it, may the caller write it.
///
/// A write is asked twice: of the row as it is and of the row as it would become. Answers must depend on nothing but the arguments; they are
/// asked often, on any thread, also inside a commit.
public struct RowPolicy: Sendable {
  public typealias Rule = @Sendable (_ caller: Caller, _ row: PolicyRow) -> Bool

  public var mayRead: Rule
  public var mayWrite: Rule

  public init(mayRead: @escaping Rule, mayWrite: @escaping Rule) {
    self.mayRead = mayRead
    self.mayWrite = mayWrite
  }

  /// On a table with a bucket column yes to both exactly when that column's text is the caller's id; on any other table yes to both.
  public static let bucketOwner: RowPolicy = {
    let isOwner: Rule = { caller, row in
      guard row.bucketColumn != nil else { return true }
      return row.bucket?.isSame(as: caller.userID) ?? false
    }
    return RowPolicy(mayRead: isOwner, mayWrite: isOwner)
  }()

  /// Everybody may do everything.
  public static let open = RowPolicy(mayRead: { _, _ in true }, mayWrite: { _, _ in true })
}

/// A row as policies and rules of a table see it: with all its columns.
public struct PolicyRow: Sendable {
  public var table: String
  public var pk: String
  public var columns: [String: Value]
  public var bucketColumn: String?

  public init(table: String, pk: String, columns: [String: Value], bucketColumn: String? = nil) {
    self.table = table
    self.pk = pk
    self.columns = columns
    self.bucketColumn = bucketColumn
  }

  /// The text of the bucket column; nil if the table has none, or the cell is null, absent or of a kind that has no text.
  public var bucket: String? { bucketColumn.flatMap { columns[$0]?.wireText } }
}
