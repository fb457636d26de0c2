@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Remembers what a client was refused lately, for a screen that shows it. Kept in memory only.
public final class SyncInspector: Sendable {
  /// Something that was refused.
  public struct Refusal: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
      case rejected
      case aborted
      case overwritten
    }

    public var kind: Kind
    /// Whose; of an overwritten value the winner's.
    public var mutationID: String
    /// Of an overwritten value `table.column`.
    public var reason: String
  }

  /// A client as an inspector shows it.
  public struct Snapshot: Hashable, Sendable {
    public var state: SyncInspection
    /// Oldest first.
    public var refusals: [Refusal]
    /// Names of the newest events, oldest first.
    public var recentEvents: [String]
  }

  /// Refusals that are remembered.
  public static let refusalCountMax = 50

  private struct State {
    var refusals: [Refusal] = []
    var nextListener = 0
    var listeners: [(number: Int, listener: @Sendable () -> Void)] = []
  }

  private let state = Lock(State())
  private let delivery: EventDelivery
  private let inspect: @Sendable () async throws -> SyncInspection

  init(_ client: SyncClient) {
    delivery = client.delivery
    inspect = { [weak client] in
      guard let client else { throw SyncError(.engineUnavailable, "the client is gone") }
      return try await client.inspect()
    }
    _ = delivery.add { [weak self] event in self?.note(event) }
  }

  /// The newest refusals, oldest first.
  public var verdicts: [Refusal] { state.withLock { $0.refusals } }

  public func snapshot() async throws -> Snapshot {
    Snapshot(state: try await inspect(), refusals: verdicts, recentEvents: delivery.recentNames)
  }

  /// Calls `handler` after every event of the client and after ``clear()``, where events are delivered.
  ///
  /// - Returns: ends the subscription.
  @discardableResult
  public func subscribe(_ handler: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.listeners.append((state.nextListener, handler))
      state.nextListener += 1
      return state.nextListener - 1
    }
    return { [weak self] in self?.state.withLock { state in state.listeners.removeAll { $0.number == number } } }
  }

  /// Forgets the refusals.
  public func clear() {
    state.withLock { $0.refusals = [] }
    delivery.call { [weak self] in self?.tell() }
  }

  private func note(_ event: SyncEvent) {
    let refusal: Refusal? =
      switch event {
      case .mutationRejected(let id, let reason): Refusal(kind: .rejected, mutationID: id, reason: reason)
      case .batchAborted(let id, let reason): Refusal(kind: .aborted, mutationID: id, reason: reason)
      case .columnOverwritten(let loss):
        Refusal(kind: .overwritten, mutationID: loss.winnerMutationID, reason: "\(loss.table).\(loss.column)")
      default: nil
      }
    if let refusal {
      state.withLock { state in
        state.refusals.append(refusal)
        if state.refusals.count > Self.refusalCountMax { state.refusals.removeFirst() }
      }
    }
    tell()
  }

  private func tell() { for (_, listener) in state.withLock({ $0.listeners }) { listener() } }
}

extension SyncClient {
  /// What remembers refusals from the first call on; always the same.
  public func inspector() -> SyncInspector {
    withMemory { memory in
      if let inspector = memory.inspector { return inspector }
      let inspector = SyncInspector(self)
      memory.inspector = inspector
      return inspector
    }
  }
}
