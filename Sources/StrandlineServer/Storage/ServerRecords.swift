// What the server keeps (in the order of the protocol's own list): rows with their change entries, tombstones, stamps, grants, verdicts,
// journal, counter and horizon, clients.

/// Which row: a table and the text of a key, told apart by their bytes.
public struct RowID: Hashable, Sendable {
  public var table: String
  public var pk: String

  public init(table: String, pk: String) {
    self.table = table
    self.pk = pk
  }

  public static func == (left: RowID, right: RowID) -> Bool {
    left.pk.isSame(as: right.pk) && left.table.isSame(as: right.table)
  }

  public func hash(into hasher: inout Hasher) {
    ExactText(table).hash(into: &hasher)
    ExactText(pk).hash(into: &hasher)
  }
}

/// A live row and its change entry.
public struct ServerRow: Hashable, Sendable {
  /// Exactly what was written; the key is not filled in.
  public var columns: [String: Value]
  /// Of the latest upsert.
  public var number: Int64
  /// Text of the bucket column, empty on a table without one; nil where the cell has no text: no pull finds the row then.
  public var bucket: String?
  /// A ``HybridTimestamp`` by column; empty on tables of ``ConflictMode/arrival``.
  public var stamps: [String: String]

  public init(columns: [String: Value], number: Int64, bucket: String?, stamps: [String: String] = [:]) {
    self.columns = columns
    self.number = number
    self.bucket = bucket
    self.stamps = stamps
  }
}

/// That a row left a bucket value: deleted, or moved to another.
public struct ServerTombstone: Hashable, Sendable {
  public var id: RowID
  /// The value it left; empty where it had none.
  public var bucket: String
  public var number: Int64
  /// Milliseconds since 1970, in UTC.
  public var deletedAt: Int64

  public init(id: RowID, bucket: String, number: Int64, deletedAt: Int64) {
    self.id = id
    self.bucket = bucket
    self.number = number
    self.deletedAt = deletedAt
  }
}

/// That a row of a bucket value was once sent to a user, who is therefore told when rows leave it.
public struct DeliveryGrant: Hashable, Sendable {
  public var userID: String
  public var table: String
  /// Empty on a table without buckets, and for rows that have no value.
  public var bucket: String

  public init(userID: String, table: String, bucket: String) {
    self.userID = userID
    self.table = table
    self.bucket = bucket
  }

  public static func == (left: DeliveryGrant, right: DeliveryGrant) -> Bool {
    left.userID.isSame(as: right.userID) && left.table.isSame(as: right.table) && left.bucket.isSame(as: right.bucket)
  }

  public func hash(into hasher: inout Hasher) {
    ExactText(userID).hash(into: &hasher)
    ExactText(table).hash(into: &hasher)
    ExactText(bucket).hash(into: &hasher)
  }
}

/// What was decided about a mutation id; never a copy of the row.
public struct RecordedVerdict: Hashable, Sendable {
  public var mutationID: String
  public var userID: String
  /// Nil: applied.
  public var reason: RejectionReason?
  public var row: RowID
  /// Whether the applied verdict carried a row.
  public var carriedRow: Bool
  /// Milliseconds since 1970, in UTC.
  public var decidedAt: Int64
}

/// A value that a later write replaced.
public struct JournalEntry: Hashable, Sendable {
  public var row: RowID
  public var column: String
  /// Of the write that won.
  public var number: Int64
  public var loserValue: Value
  public var winnerMutationID: String
  public var mode: ConflictMode
}

/// One place in the feeds of a table's bucket value: a change entry, which stands for the latest image of a row, or a tombstone.
public struct FeedEntry: Hashable, Sendable {
  public enum Kind: Int64, Hashable, Sendable, CaseIterable {
    case change
    case tombstone
  }

  public var kind: Kind
  public var number: Int64
  public var row: RowID
  /// Of a tombstone: milliseconds since 1970, in UTC. Zero of a change entry.
  public var deletedAt: Int64

  public init(kind: Kind, number: Int64, row: RowID, deletedAt: Int64 = 0) {
    self.kind = kind
    self.number = number
    self.row = row
    self.deletedAt = deletedAt
  }
}

/// What a table's feeds were built by; a server with another configuration cannot read them.
public struct TableRecord: Hashable, Sendable {
  public var name: String
  public var bucketColumn: String?
  public var keyColumns: [String]
}

/// How far the server has come.
public struct ServerCounter: Hashable, Sendable {
  /// Highest number drawn; zero before the first.
  public var highMark: Int64 = 0
  /// Drawn with the commit of `highMark`: 64 random bits that no other history has at this number. Zero before the first.
  public var tag: UInt64 = 0
  /// Highest number whose tombstone was reaped; never lowered.
  public var reapHorizon: Int64 = 0

  public init() {}
}

/// A client that has called, where these are registered.
public struct RegisteredClient: Hashable, Sendable {
  public var clientID: String
  public var userID: String
  public var cursor: String?
  public var lastMutationID: String?
  public var schemaVersion: Int64?
  /// Milliseconds since 1970, in UTC.
  public var lastSeen: Int64
}
