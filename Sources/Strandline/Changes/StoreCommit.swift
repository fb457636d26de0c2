@_spi(Engine) public import StrandlineLog

/// A commit as consumers of changes see it: what was done to which rows, and why.
public struct StoreCommit: Sendable {
  public enum Kind: Hashable, Sendable {
    /// What a write wrote.
    case facts
    /// Everything in front of it is void. Its changes are what lived on.
    case reset
    /// Commits that a salvage could not keep, up to this number.
    case gap(through: SequenceNumber)
  }

  public var kind: Kind
  /// Where a consumer stands that has taken this commit.
  public var position: Position
  /// Milliseconds since 1970 by the clock of the machine that wrote it; for people, never for order.
  public var time: Int64
  public var cause: Cause
  public var metadata: [String: String]
  /// In the order in which they were made.
  public var rows: [RowChange] = []
  public var events: [StreamEvent] = []
  /// Facts of the store's own: tables, indexes, places of projections.
  public var otherFactCount = 0
}

/// What a commit did to one row.
public struct RowChange: Hashable, Sendable {
  public var table: String
  /// The primary key, in the order of its columns.
  public var key: [Value]
  /// The row from then on; nil: it was deleted.
  public var row: Row?
}

extension StoreCommit {
  /// Reads a commit of the log.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)`` for records that are not facts of this version.
  init(_ commit: Commit, tables: Tables) throws(StoreError) {
    let kind: Kind =
      switch commit.content {
      case .records: .facts
      case .reset: .reset
      case .gap(let gap): .gap(through: gap.last)
      }
    self.init(kind: kind, position: commit.position, time: commit.time, cause: .transaction, metadata: [:])
    try commit.forEachRecord { (record) throws(StoreError) in try take(record, tables) }
  }

  private mutating func take(_ record: UnsafeRawBufferPointer, _ tables: Tables) throws(StoreError) {
    switch FactView.decode(record) {
    case .header(let header):
      cause = header.cause
      metadata = header.metadata
    case .put(let key, let value): try take(key, value, tables)
    case .delete(let key): try take(key, nil, tables)
    case nil: throw .undecodable(what: "commit \(position.sequence)", reason: "a record is no fact")
    }
  }

  private mutating func take(
    _ key: KeyView, _ value: UnsafeRawBufferPointer?, _ tables: Tables
  ) throws(StoreError) {
    switch Family(rawValue: key.prefix.familyNumber) {
    case .row:
      // A table that was dropped since has no name any more.
      guard let table = tables.numbered(key.prefix.table), !table.definition.isDropped else {
        otherFactCount += 1
        return
      }
      rows.append(
        RowChange(
          table: table.name, key: try table.keyValues(of: key.bytes),
          row: try value.map { (value) throws(StoreError) in try table.row(key: key.bytes, value) }))
    case .stream:
      guard let value else { return }
      events.append(try StreamEvent(key: key.bytes, value, position: position.sequence))
    default: otherFactCount += 1
    }
  }
}
