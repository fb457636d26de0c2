public import Strandline
internal import StrandlineProtocol

extension SyncClient {
  /// Writes one row here and queues the write for the server.
  ///
  /// - Parameters:
  ///   - operation: an insert needs a key without a row, an update of an absent row makes one, and a delete of an absent row is queued all
  ///     the same.
  ///   - table: a configured table that is not only pulled.
  ///   - pk: the key's text; see ``RowKey``. Has to agree with key columns of an insert.
  ///   - columns: what is written; other columns of a row that is there stay. An update leaves the key alone.
  ///   - mutationID: of a write that is made again; nil makes one up. Not queued yet; 1 to 256 bytes.
  ///   - transforms: by column, as ``Transform/json`` has them; done here by an update, and by the server in any case.
  ///   - precondition: values that the server's row must have for the write to be taken; not looked at here.
  /// - Throws: ``SyncErrorCode/localUnsupported``, ``SyncErrorCode/unknownTable``, ``SyncErrorCode/softDeleteViolation`` for a delete from
  ///   a table that marks its rows, ``SyncErrorCode/localConstraint``, ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``.
  ///   Nothing was written then.
  public func apply(
    _ operation: MutationOperation, to table: String, pk: String, columns: [String: Value] = [:],
    mutationID: String? = nil, transforms: [String: Value]? = nil, precondition: [String: Value]? = nil
  ) async throws {
    try await apply(
      LocalWrite(
        table: table, pk: pk, operation: operation, columns: columns, mutationID: mutationID, transforms: transforms,
        precondition: precondition))
  }

  /// Writes to all rows that the filters find; in one commit, as one mutation a row.
  ///
  /// - Parameters:
  ///   - operation: an update or a delete; in a table that marks its rows a delete marks them, all with one time.
  ///   - filters: at least one, and none that finds rows by saying nothing. Rows that are marked as deleted are not found.
  /// - Returns: the keys of the rows, in their order. None: nothing was written.
  /// - Throws: as ``apply(_:to:pk:columns:mutationID:transforms:precondition:)``; nothing was written then.
  @discardableResult
  public func applyWhere(
    _ operation: MutationOperation, in table: String, filters: [Filter], columns: [String: Value] = [:],
    transforms: [String: Value]? = nil, precondition: [String: Value]? = nil
  ) async throws -> [String] {
    try await applyWhere(
      FilterWrite(
        table: table, operation: operation, filters: filters, columns: columns, transforms: transforms,
        precondition: precondition)
    ).map(\.name.pk)
  }

  /// Makes several writes one commit here and one atomic batch on the wire: the server applies all of them or none.
  ///
  /// - Parameter body: runs alone among writers; keep it short. A write in it that throws spoils the whole, also when the error is caught.
  /// - Returns: what `body` answered.
  /// - Throws: what `body` threw; otherwise as ``apply(_:to:pk:columns:mutationID:transforms:precondition:)``. Nothing was written then.
  @discardableResult
  public func write<Result>(_ body: (inout WriteTransaction) throws -> Result) async throws -> Result {
    await writers.pass()
    return try await commitWrites { state in
      let (result, written) = try WriteTransaction.with(&state, context, body)
      state.raiseLocalWrites(written)
      return result
    }
  }

  func apply(_ write: LocalWrite) async throws {
    try ensureOpen()
    if write.table.isEmpty || write.pk?.isEmpty ?? false {
      throw SyncError(.localUnsupported, "apply requires table and pk")
    }
    await writers.pass()
    try await commitWrites { state in
      state.raiseLocalWrites([try state.apply(write, context)])
    }
  }

  func applyWhere(_ write: FilterWrite) async throws -> [SyncState.Written] {
    await writers.pass()
    return try await commitWrites { state in
      let written = try state.applyWhere(write, context)
      state.raiseLocalWrites(written)
      return written
    }
  }
}

extension SyncState {
  /// What is raised behind local writes of one commit; none: nothing.
  mutating func raiseLocalWrites(_ written: [Written]) {
    if written.isEmpty { return }
    raiseLocalChanged()
    if let depth = written.compactMap(\.depth).last { events.append(.queueDepth(depth)) }
  }
}
