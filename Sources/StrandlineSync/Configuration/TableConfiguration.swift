public import StrandlineProtocol

/// One table as a sync client has it.
public struct TableConfiguration: Hashable, Sendable {
  /// Which of the server's rows belong to this client.
  public enum Bucket: Hashable, Sendable {
    /// All of them.
    case none
    /// Those whose column names the signed-in user. The client fills the value, also into rows that it inserts without the column.
    case byOwner(String)
    /// Those whose column has the value that ``SyncClient/setBucket(_:)`` gives.
    case byColumn(String)

    /// The column, where there is one.
    public var column: String? {
      switch self {
      case .none: nil
      case .byOwner(let column), .byColumn(let column): column
      }
    }
  }

  /// Whether the client writes to the table.
  public enum SyncMode: String, Hashable, Sendable {
    case readWrite = "read-write"
    /// Every local write is refused.
    case pullOnly = "pull-only"
  }

  /// A column whose values are references to files.
  public struct Attachment: Hashable, Sendable {
    /// Where the objects lie on the storage; not empty.
    public var storageBucket: String
    /// The column with the user that owns the object; not empty.
    public var ownerColumn: String

    public init(storageBucket: String, ownerColumn: String) {
      self.storageBucket = storageBucket
      self.ownerColumn = ownerColumn
    }
  }

  public var bucket: Bucket
  /// The bucket's value from the start, as if it was set at open; nil or empty: none. A kept owner goes before it.
  public var bucketValue: String?
  /// By column.
  public var attachments: [String: Attachment]
  /// The column that marks a row as deleted; nil or empty: rows are deleted for good.
  public var softDeleteColumn: String?
  public var conflictMode: ConflictMode
  public var syncMode: SyncMode
  /// The primary key's columns, in key order.
  public var key: [String]
  /// Secondary indexes over the local rows.
  public var indexes: [IndexSchema]

  public init(
    bucket: Bucket = .none, bucketValue: String? = nil, attachments: [String: Attachment] = [:],
    softDeleteColumn: String? = nil, conflictMode: ConflictMode = .arrival, syncMode: SyncMode = .readWrite,
    key: [String] = ["id"], indexes: [IndexSchema] = []
  ) {
    self.bucket = bucket
    self.bucketValue = bucketValue
    self.attachments = attachments
    self.softDeleteColumn = softDeleteColumn
    self.conflictMode = conflictMode
    self.syncMode = syncMode
    self.key = key
    self.indexes = indexes
  }
}
