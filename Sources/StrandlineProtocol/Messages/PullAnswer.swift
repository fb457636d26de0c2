/// One page of what is new, or a signal in its place.
public struct PullAnswer: WireMessage {
  /// The latest image of a row.
  public struct RowEntry: Hashable, Sendable {
    public var table: String
    public var pk: String
    /// The columns as they were written; the key is not filled in.
    public var row: [String: Value]
    public var seq: String
    /// Whether the entry stands for a deletion. Our server sends tombstones instead.
    public var isDeleted: Bool

    public init(table: String, pk: String, row: [String: Value], seq: String, isDeleted: Bool = false) {
      self.table = table
      self.pk = pk
      self.row = row
      self.seq = seq
      self.isDeleted = isDeleted
    }
  }

  public struct Tombstone: Hashable, Sendable {
    public var table: String
    public var pk: String
    public var seq: String
    /// RFC 3339; nil where the server does not say.
    public var deletedAt: String?

    public init(table: String, pk: String, seq: String, deletedAt: String?) {
      self.table = table
      self.pk = pk
      self.seq = seq
      self.deletedAt = deletedAt
    }
  }

  /// A value that lost against a later write.
  public struct Conflict: Hashable, Sendable {
    public var table: String
    public var pk: String
    public var column: String
    public var loserValue: Value
    public var winnerMutationID: String
    public var conflictMode: String
    public var winnerSeq: String?

    public init(
      table: String, pk: String, column: String, loserValue: Value, winnerMutationID: String, conflictMode: String,
      winnerSeq: String?
    ) {
      self.table = table
      self.pk = pk
      self.column = column
      self.loserValue = loserValue
      self.winnerMutationID = winnerMutationID
      self.conflictMode = conflictMode
      self.winnerSeq = winnerSeq
    }
  }

  /// Any text: kept and sent back as it came, except by the server that wrote it.
  public var cursor: String
  public var hasMore: Bool
  public var rows: [RowEntry]
  public var tombstones: [Tombstone]
  /// A ``LifecycleSignal``, or a word that the receiver has to refuse.
  public var signal: String?
  public var conflicts: [Conflict]

  public init(
    cursor: String, hasMore: Bool = false, rows: [RowEntry] = [], tombstones: [Tombstone] = [], signal: String? = nil,
    conflicts: [Conflict] = []
  ) {
    self.cursor = cursor
    self.hasMore = hasMore
    self.rows = rows
    self.tombstones = tombstones
    self.signal = signal
    self.conflicts = conflicts
  }

  public init(json: Value) throws(MessageDefect) {
    let message = MessageMember(json, "")
    cursor = try message.required("cursor").text()
    hasMore = try message.required("has_more").flag()
    signal = try message.signal()
    rows = try message.required("rows").list { (entry) throws(MessageDefect) in try RowEntry(entry) }
    tombstones = try message.required("tombstones").list { (entry) throws(MessageDefect) in try Tombstone(entry) }
    conflicts = try message.present("conflicts")?.list { (entry) throws(MessageDefect) in try Conflict(entry) } ?? []
  }

  public var json: Value {
    var members: [String: Value] = [
      "cursor": .string(cursor), "has_more": .bool(hasMore), "rows": .array(rows.map(\.json)),
      "tombstones": .array(tombstones.map(\.json)), "signal": signal.map { ["type": .string($0)] } ?? .null,
    ]
    if !conflicts.isEmpty { members["conflicts"] = .array(conflicts.map(\.json)) }
    return .object(members)
  }
}

extension PullAnswer.RowEntry {
  fileprivate init(_ entry: MessageMember) throws(MessageDefect) {
    isDeleted = try entry.present("deleted")?.flag() ?? false
    row = isDeleted ? try entry.present("row")?.object() ?? [:] : try entry.required("row").object()
    table = try entry.required("table").text()
    pk = try entry.required("pk").text()
    seq = try entry.required("seq").text()
  }

  fileprivate var json: Value {
    var members: [String: Value] = [
      "table": .string(table), "pk": .string(pk), "row": .object(row), "seq": .string(seq),
    ]
    if isDeleted { members["deleted"] = true }
    return .object(members)
  }
}

extension PullAnswer.Tombstone {
  fileprivate init(_ entry: MessageMember) throws(MessageDefect) {
    table = try entry.required("table").text()
    pk = try entry.required("pk").text()
    seq = try entry.required("seq").text()
    deletedAt = try entry.present("deleted_at")?.text()
  }

  fileprivate var json: Value {
    [
      "table": .string(table), "pk": .string(pk), "seq": .string(seq),
      "deleted_at": deletedAt.map { .string($0) } ?? .null,
    ]
  }
}

extension PullAnswer.Conflict {
  fileprivate init(_ entry: MessageMember) throws(MessageDefect) {
    table = try entry.required("table").text()
    pk = try entry.required("pk").text()
    column = try entry.required("column_name").text()
    loserValue = entry["loser_value"]?.value ?? .null
    winnerMutationID = try entry.required("winner_mutation_id").text()
    conflictMode = try entry.required("conflict_mode").text()
    winnerSeq = try entry.present("winner_seq")?.text()
  }

  fileprivate var json: Value {
    [
      "table": .string(table), "pk": .string(pk), "column_name": .string(column), "loser_value": loserValue,
      "winner_mutation_id": .string(winnerMutationID), "conflict_mode": .string(conflictMode),
      "winner_seq": winnerSeq.map { .string($0) } ?? .null,
    ]
  }
}
