@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// A client of a sync server: a full local copy of the rows it may see, and a queue of what was written here.
///
/// Reads and writes are local and never wait for the network. A run of ``sync()`` pushes the queue and pulls what is new. What one call
/// makes durable is one commit of the store: after a crash all of it is there or nothing.
///
/// Safe to use from any task. One client a store. ``close()`` ends it.
public final class SyncClient: Sendable {
  /// What lives only as long as the client is open.
  struct Memory: Sendable {
    var session = SessionMemory()
    var token: String? { session.access.token }
    /// Whom the last readable token was for.
    var subject: String?
    /// Bucket values by table; missing: unset.
    var buckets: [String: String] = [:]
    var budget = DeadLetterBudget()
    /// What pages were found to have to be, for their answers to be taken; nil: no page was too large.
    var pageLimitMax: Int64?
    /// The highest seq of the outbox that a push may have carried, in this process or an earlier one.
    var sentThrough: Int64 = 0
    var isClosed = false
    var errorHandler: ErrorHandler?
    var inspector: SyncInspector?
    /// By number, which is never given twice.
    var watchers: [Int: AttachmentWatcher] = [:]
    var nextWatcher = 0
    /// A reset has failed or was refused since the client was opened; it is not tried again by itself.
    var hasResetFailed = false
    /// Of the action that opening has performed.
    var resetAtOpen: ClientResetReport?
    /// The action that this open has told of.
    var toldAction: String?
    /// Ends an attempt that has not come to its marker.
    var attempt: (@Sendable () -> Void)?
    /// The switch whose after callback has ended in this process.
    var endedSwitch: String?
    /// For the next fresh copy of a dry run.
    var previewClientID: String?
  }

  let configuration: SyncConfiguration
  let tables: ClientTables
  let store: Store
  private let memory: Lock<Memory>
  let delivery: EventDelivery
  let queued = QueuedRows()
  let stateBoard = Broadcast<SyncSession.State>()
  let progressBoard = Broadcast<SyncProgress>()
  /// Held for their whole run by what talks to the server, and by what must not run beside that.
  let networkGate = AsyncGate()
  /// Held while owner, identity and bucket values change, in the store and in memory, and while a request is made of them.
  let sessionGate = AsyncGate()
  /// Held while a file of the attachments' directory and the row that names it change together.
  let fileGate = AsyncGate()
  /// Nil: the client has no directory for attachments.
  let files: AttachmentFiles?
  /// Local writes wait here while a client reset is about to switch and they have come in between too often.
  let writers = WriterHold()
  private let directory: PrivateDirectory?

  var isInMemory: Bool { directory != nil }
  var context: WriteContext { WriteContext(clock: configuration.clock, ids: configuration.ids) }

  private init(_ configuration: SyncConfiguration, _ store: Store, _ directory: PrivateDirectory?) {
    self.configuration = configuration
    self.store = store
    self.directory = directory
    tables = ClientTables(configuration)
    files = AttachmentFiles(configuration.attachmentRoot)
    memory = Lock(Memory(errorHandler: configuration.errorHandler))
    delivery = EventDelivery(on: configuration.deliverOn)
  }

  func withMemory<Result>(_ body: (inout Memory) throws -> Result) rethrows -> Result { try memory.withLock(body) }

  // MARK: Open

  /// Opens a client on its store, which is made where there is none. Makes no request, and works offline and before anybody signs in.
  ///
  /// - Throws: ``SyncError`` with ``SyncErrorCode/configInvalid`` for a configuration that cannot be, a path that cannot be opened, and a
  ///   store that holds anything but a client's own; ``SyncErrorCode/attachmentPortsMissing``; ``SyncErrorCode/storeBusy`` while another
  ///   process has the store; ``SyncErrorCode/storeUnavailable`` for one that is damaged or of another format. Nothing was changed then.
  public static func open(_ configuration: SyncConfiguration) async throws -> SyncClient {
    try configuration.check()
    try AttachmentRoot.make(configuration.attachmentRoot)
    let isPrivate = configuration.storePath == nil || configuration.storePath == ":memory:"
    let directory = isPrivate ? try PrivateDirectory() : nil
    let path = directory?.path ?? configuration.storePath ?? ""
    try StoreOpening.checkIsNoCopy(path)
    let store: Store
    do {
      store = try await Store.open(at: path, options: configuration.storeOptions)
    } catch {
      throw StoreOpening.thrown(for: error, path: path)
    }
    let client = SyncClient(configuration, store, directory)
    do {
      try StoreOpening.check(store, path: path)
      try await store.adopt(Schema(tables: StateTable.schemas + client.tables.all.map(\.schema)))
      try await client.begin()
    } catch {
      try? await store.close()
      throw SyncError.thrown(for: error)
    }
    return client
  }

  /// What opening does once the store is there. What the store refuses here is done before the next request.
  private func begin() async throws {
    files?.clearIncoming()
    await beginResets()
    try await sessionGate.pass {
      do { try await keepIdentity() } catch let error as CancellationError { throw error } catch {}
      do { try await fillBucketsAtOpen() } catch let error as CancellationError { throw error } catch {}
    }
    try recallSent()
    if let token = configuration.accessToken { try await setAccessToken(token) }
  }

  // MARK: Close

  /// Waits for a running sync, closes the store and lets go of listeners. Later calls answer ``SyncErrorCode/engineUnavailable``. A second
  /// call does nothing.
  ///
  /// - Throws: ``SyncErrorCode/store`` if the store's last sync failed. The client is closed all the same.
  public func close() async throws {
    do { try await end() } catch { throw SyncError.thrown(for: error) }
  }

  /// As ``close()``, for callers that can do nothing about a failure.
  public func dispose() async {
    do { try await end() } catch {}
  }

  private func end() async throws {
    if ResetCallback.caller == ObjectIdentifier(self) {
      // The run that calls back holds the gate. Off its task, this waits for it.
      Task.detached { try? await self.end() }
      return
    }
    withMemory { $0.session.isClosing = true }
    sessionChanged()
    withMemory { $0.attempt }?()
    try await networkGate.pass {
      try await sessionGate.pass {
        await keepSent()
        let wasClosed = withMemory { memory in
          defer { memory.isClosed = true }
          memory.inspector = nil
          memory.watchers = [:]
          return memory.isClosed
        }
        if wasClosed { return }
        endWaits(Self.closed)
        sessionChanged()
        stateBoard.finish()
        progressBoard.finish()
        delivery.close()
        let store = store
        defer { directory?.remove() }
        // Not to be broken off by the caller's cancellation.
        try await Task.detached { try await store.close() }.value
      }
    }
  }

  /// - Throws: ``SyncErrorCode/engineUnavailable`` once the client is closed.
  func ensureOpen() throws(SyncError) {
    if withMemory({ $0.isClosed }) { throw Self.closed }
  }

  // MARK: Commits and views

  /// Runs `body` on the state and makes what it wrote one commit; then hands on the events it raised.
  @discardableResult
  func commit<Result>(_ cause: Cause, _ body: (inout SyncState) throws -> Result) async throws -> Result {
    try ensureOpen()
    // Nothing may be decided on what a failed sync has left in doubt, not even that there is nothing to write.
    if let poison = store.poison { throw SyncError(poison) }
    var turn: EventDelivery.Turn?
    var events: [SyncEvent] = []
    var errors: [SyncError] = []
    var changesBlock = false
    var dequeued: [QueuedRows.Entry] = []
    var touchesQueue = false
    do {
      let result = try await store.write(cause: cause) { (transaction) throws -> Result in
        turn = delivery.draw()
        return try SyncState.with(&transaction, tables, queued) { state in
          defer {
            dequeued = state.dequeued
            touchesQueue = state.touchesQueue
          }
          let result = try body(&state)
          events = state.events
          errors = state.errors
          changesBlock = state.changesBlock
          return result
        }
      }
      if !dequeued.isEmpty { queued.remove(dequeued) }
      let atOnce = withMemory { memory in
        if memory.session.isRunning { memory.session.errorsBehindRun += errors }
        return memory.session.isRunning ? [] : errors
      }
      if let turn { delivery.end(turn, events, atOnce.map { error in { [self] in handOut(error) } }) }
      if changesBlock { sessionChanged() }
      for error in errors where error.code == .identityChanged { failWaits(error) }
      settleUploads()
      return result
    } catch {
      if touchesQueue { queued.forget() }
      if let turn { delivery.end(turn, []) }
      throw SyncError.thrown(for: error)
    }
  }

  /// Runs `body` on the state as of now.
  func read<Result>(_ body: (ReadView) throws -> Result) throws -> Result {
    try ensureOpen()
    do { return try body(try store.view()) } catch { throw SyncError.thrown(for: error) }
  }
}
