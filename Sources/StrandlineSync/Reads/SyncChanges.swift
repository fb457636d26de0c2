public import StrandlineProtocol

/// A commit of a client's store: what it did to rows, and why.
public struct SyncCommit: Sendable {
  public struct RowChange: Hashable, Sendable {
    public var table: String
    /// The key's text.
    public var pk: String
    /// The row from then on, as reads give it; nil: it is gone.
    public var row: Row?
  }

  /// Everything in front of it is void.
  public var isReset: Bool
  /// Where a consumer stands that has taken this commit.
  public var position: Position
  /// Milliseconds since 1970 by the clock of this machine.
  public var time: Int64
  public var cause: Cause
  /// Rows of the configured tables, in the order in which they were written.
  public var rows: [RowChange]
}

/// The commits of a client's store from a position on, and then those to come. Ends when the client is closed.
public struct SyncChanges: AsyncSequence, Sendable {
  public typealias Element = SyncCommit

  let changes: StoreChanges
  let tables: ClientTables

  public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator(), tables: tables) }

  public struct Iterator: AsyncIteratorProtocol {
    var changes: StoreChanges.Iterator
    let tables: ClientTables

    /// - Throws: ``SyncErrorCode/store`` if the history that follows the position is not kept any more, or cannot be read.
    public mutating func next() async throws -> SyncCommit? {
      do {
        guard let commit = try await changes.next() else { return nil }
        var rows: [SyncCommit.RowChange] = []
        for change in commit.rows {
          guard let table = tables.find(change.table), case .string(let pk)? = change.key.first else { continue }
          rows.append(
            SyncCommit.RowChange(
              table: table.name, pk: pk, row: change.row.map { RowImage($0, of: table).answer(pk, of: table) }))
        }
        return SyncCommit(
          isReset: commit.kind == .reset, position: commit.position, time: commit.time, cause: commit.cause, rows: rows)
      } catch {
        throw SyncError.thrown(for: error)
      }
    }
  }
}

extension SyncClient {
  /// The commits behind a position, each with its cause, and then those to come.
  ///
  /// - Parameter position: what was taken last; nil: everything since the last reset that the store still has, which
  ///   ``StoreOptions/history`` decides.
  public func changes(since position: Position? = nil) -> SyncChanges {
    SyncChanges(changes: store.changes(since: position), tables: tables)
  }
}
