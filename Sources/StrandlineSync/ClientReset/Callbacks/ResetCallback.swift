@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Runs what an application wants done around a switch.
enum ResetCallback {
  /// The client that is calling back on this task, if one is.
  @TaskLocal static var caller: ObjectIdentifier?

  enum Outcome: Sendable {
    case returned
    case threw(any Error)
    case timedOut
    case cancelled
  }

  /// Runs `body` in a task of its own, up to `limit`. A body that goes on behind it is let go.
  static func run(
    for client: SyncClient, limit: Duration?, isCancellable: Bool, _ body: @escaping @Sendable () async throws -> Void
  ) async -> Outcome {
    let race = Race()
    let task = $caller.withValue(ObjectIdentifier(client)) {
      Task {
        do {
          try await body()
          race.end(.returned)
        } catch {
          race.end(Task.isCancelled && error is CancellationError ? .cancelled : .threw(error))
        }
      }
    }
    let timer = limit.map { limit in
      Task {
        if (try? await Task.sleep(for: limit)) != nil { race.end(.timedOut) }
      }
    }
    let outcome = await withTaskCancellationHandler {
      await race.outcome()
    } onCancel: {
      if isCancellable {
        task.cancel()
        race.end(.cancelled)
      }
    }
    timer?.cancel()
    task.cancel()
    return outcome
  }

  /// Takes the first of several ends.
  private final class Race: Sendable {
    private struct State {
      var outcome: Outcome?
      var waiting: CheckedContinuation<Outcome, Never>?
    }

    private let state = Lock(State())

    func end(_ outcome: Outcome) {
      let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
        if state.outcome != nil { return nil }
        state.outcome = outcome
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume(returning: outcome)
    }

    func outcome() async -> Outcome {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.waiting = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    }
  }
}

extension SyncClient {
  /// - Throws: ``SyncErrorCode/localUnsupported`` on the task of a callback, which the call would wait for.
  func refuseInCallback(_ call: String) throws(SyncError) {
    if ResetCallback.caller == ObjectIdentifier(self) {
      throw SyncError(
        .localUnsupported, "\(call) was called from a client reset callback, and would wait for itself")
    }
  }
}
