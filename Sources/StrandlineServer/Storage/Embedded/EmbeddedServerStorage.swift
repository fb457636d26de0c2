/// A server's state in one store: a single node without dependencies.
///
/// A push is one commit, and pushes that come together share syncs. Numbers have no gaps.
public final class EmbeddedServerStorage: ServerStorage {
  private let store: Store
  private let identity: EmbeddedIdentity
  private let randomBits: @Sendable () -> UInt64

  /// Takes a store that nobody else writes to, opened with ``schema``.
  ///
  /// - Parameter randomBits: draws the name of a new history.
  public init(
    _ store: Store, randomBits: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
  ) {
    self.store = store
    self.randomBits = randomBits
    identity = EmbeddedIdentity(of: store)
  }

  /// The tables that a server's store has.
  public static var schema: Schema { EmbeddedSchema.schema }

  /// Opens the store in the directory `path`, and makes it if there is none.
  ///
  /// - Throws: as `Store.open`.
  public static func open(at path: String, options: StoreOptions = StoreOptions()) async throws
    -> EmbeddedServerStorage
  {
    EmbeddedServerStorage(try await Store.open(at: path, schema: EmbeddedSchema.schema, options: options))
  }

  public func read<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> Result
  ) async throws(ServerStorageFailure) -> Result {
    let view = try storage { () throws(StoreError) in try store.view() }
    return try body(EmbeddedState(source: view, identity: identity, epoch: view.epoch))
  }

  public func write<Result>(
    _ body: (any ServerState) throws(ServerStorageFailure) -> (changes: ServerChanges, result: Result)
  ) async throws(ServerStorageFailure) -> Result {
    try await commit { (transaction, view) throws(ServerStorageFailure) in
      let (changes, result) = try withUnsafeMutablePointer(to: &transaction) {
        (pointer) throws(ServerStorageFailure) in
        let source = TransactionSource(pointer)
        defer { source.end() }
        return try body(EmbeddedState(source: source, identity: identity, epoch: view.epoch))
      }
      try storage { () throws(StoreError) in try changes.apply(to: &transaction) }
      // What was read may be on its way to the disk still. An answer built on it must not leave before it is there.
      if transaction.isEmpty, view.sequence.rawValue + 1 < transaction.sequence.rawValue {
        try storage { () throws(StoreError) in try transaction.touchCounter() }
      }
      return result
    }
  }

  public func beginNewHistory() async throws(ServerStorageFailure) {
    try await commit { (transaction, _) throws(ServerStorageFailure) in
      try storage { () throws(StoreError) in try transaction.putSalt(randomBits()) }
    }
  }

  public func close() async throws(ServerStorageFailure) {
    do { try await store.close() } catch let error as StoreError {
      throw ServerStorageFailure(error)
    } catch { throw ServerStorageFailure("\(error)", underlying: error) }
  }

  private func commit<Result>(
    _ body: (inout Transaction, ReadView) throws(ServerStorageFailure) -> Result
  ) async throws(ServerStorageFailure) -> Result {
    do {
      return try await store.write { (transaction) throws(ServerStorageFailure) in
        let view = try storage { () throws(StoreError) in try store.view() }
        return try body(&transaction, view)
      }
    } catch let error as WriteError<ServerStorageFailure> {
      switch error {
      case .body(let failure): throw failure
      case .store(let failure): throw ServerStorageFailure(failure)
      }
    } catch {
      // Cancelled before anything was queued.
      throw ServerStorageFailure("the call was cancelled; nothing was written", underlying: error)
    }
  }
}
