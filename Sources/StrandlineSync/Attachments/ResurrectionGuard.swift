internal import StrandlineProtocol

extension SyncState {
  /// Refuses a write that puts a reference into a row that is gone: the file would be uploaded for nobody.
  ///
  /// What it names is remembered in ``refusedReferences``.
  ///
  /// - Throws: ``SyncErrorCode/localConstraint``.
  mutating func guardAgainstResurrection(_ write: LocalWrite, at name: RowName) throws {
    let named = tables.known(name.table).references(in: write.columns)
    guard write.operation != .delete, let first = named.first, try hasTombstone(name) else { return }
    refusedReferences += named.map(\.reference.text)
    throw SyncError(
      .localConstraint,
      "the row \(name.pk) of \(name.table) was deleted, and column \(first.column) of it cannot name a file any more")
  }
}

extension SyncClient {
  /// Commits local writes. Files that a refused write named are evicted.
  func commitWrites<Result>(_ body: (inout SyncState) throws -> Result) async throws -> Result {
    var refused: [String] = []
    do {
      return try await commit(.localWrite) { state in
        do {
          return try body(&state)
        } catch {
          refused = state.refusedReferences
          throw error
        }
      }
    } catch {
      let references = refused
      if !references.isEmpty {
        let now = configuration.clock.milliseconds()
        // The refusal is what the caller has to hear of; a file that stays queued is carried by no row, and never sent.
        try? await commit(.attachmentStep) { state in try state.evict(references, now: now) }
      }
      throw error
    }
  }
}
