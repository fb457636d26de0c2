/// The syncing of one client: whether it goes on, how far it is, and what waits for it. What two clients do has nothing to do with each
/// other.
///
/// The same as the client seen from another side: it lives as long, and holds it.
public struct SyncSession: Sendable {
  let client: SyncClient

  init(_ client: SyncClient) { self.client = client }

  /// The store that the session syncs.
  public var storePath: String { client.store.path }

  // MARK: State

  public var state: State { client.sessionState() }

  /// The state as it is, then each change. Ends with the client.
  public var states: AsyncStream<State> { client.stateBoard.stream { client.sessionState() } }

  /// Ends syncing until ``resume()``: a run that is under way makes no further request, and ``SyncClient/sync()`` returns without one. What
  /// is out is still answered, and taken. Reads and writes go on. Nothing is told to the error handler. Not kept over a restart.
  public func pause() { client.setPaused(true) }

  /// Ends a pause. Asks for no run.
  public func resume() { client.setPaused(false) }

  // MARK: Progress

  public var progress: SyncProgress { client.withMemory { $0.session.progress } }

  /// The progress as it is, then the newest after each answer; what was not looked at in time is left out. Ends with the client.
  public var progressUpdates: AsyncStream<SyncProgress> {
    client.progressBoard.stream(keepingNewest: true) { progress }
  }

  // MARK: Waiting

  /// Waits until the server has answered every local write that is queued now. Asks for no run.
  ///
  /// Waits through client resets, and through errors that are tried again. A queue that ``SyncClient/reset()`` erases is waited for no more.
  ///
  /// - Parameter failOnTransient: whether an error that is tried again ends the wait, too.
  /// - Throws: the first error that ends a run and is not tried again; what blocks, closes or signs out the session; `CancellationError`.
  public func waitForUpload(failOnTransient: Bool = false) async throws {
    try await client.waitForUpload(endsOnTransient: failOnTransient)
  }

  /// Waits until a pull that begins from now on has come to its end. Asks for no run.
  ///
  /// - Parameter failOnTransient: as with ``waitForUpload(failOnTransient:)``, and so are the errors.
  public func waitForDownload(failOnTransient: Bool = false) async throws {
    try await client.waitForDownload(endsOnTransient: failOnTransient)
  }
}

extension SyncSession {
  public enum State: Hashable, Sendable {
    /// A run is made whenever it is asked for, or is under way.
    case active
    /// Nobody is signed in, or the token is refused for good: another token is needed.
    case waitingForToken
    case resetting(ClientResetPhase)
    case blocked(SoftBlockReason)
    case paused
    /// Closing was asked for while a run is under way.
    case closing
    /// Closed, or the store is: it has to be opened anew.
    case closed
  }
}

extension SyncSession: CustomStringConvertible {
  public var description: String { "SyncSession(\(storePath), \(state))" }
}
