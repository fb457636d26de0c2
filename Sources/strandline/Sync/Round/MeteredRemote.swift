import StrandlineSync
import Synchronization

/// Counts what goes to a server and what comes back.
final class MeteredRemote: Remote {
  struct Counts: Equatable, Sendable {
    var requests = 0
    /// Of mutations that the server has applied.
    var applied = 0
    /// Entries of pages.
    var rows = 0
    var deletions = 0

    /// Grows with everything that is done.
    var total: Int { applied + rows + deletions }
  }

  /// Which row a mutation was for.
  struct Target: Equatable, Sendable {
    var table: String
    var pk: String
  }

  private struct State {
    var counts = Counts()
    var refused: [String: Target] = [:]
  }

  private let remote: any Remote
  private let state = Mutex(State())

  init(_ remote: any Remote) { self.remote = remote }

  var counts: Counts { state.withLock { $0.counts } }

  /// The row of a mutation that the server did not apply.
  func target(of mutationID: String) -> Target? { state.withLock { $0.refused[mutationID] } }

  func pull(
    _ request: PullRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    state.withLock { $0.counts.requests += 1 }
    let answer = try await remote.pull(request, context)
    state.withLock { state in
      let deleted = answer.body.rows.count { $0.isDeleted }
      state.counts.rows += answer.body.rows.count - deleted
      state.counts.deletions += answer.body.tombstones.count + deleted
    }
    return answer
  }

  func push(
    _ request: PushRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    state.withLock { $0.counts.requests += 1 }
    let answer: RemoteAnswer<PushAnswer>
    do throws(RemoteFailure) {
      answer = try await remote.push(request, context)
    } catch {
      if error.isPermanent { note(request, applied: []) }
      throw error
    }
    let applied = (answer.body.verdicts ?? []).filter { $0.kind == VerdictKind.applied.rawValue }
    note(request, applied: Set(applied.map(\.mutationID)))
    return answer
  }

  private func note(_ request: PushRequest, applied: Set<String>) {
    state.withLock { state in
      state.counts.applied += applied.count
      for mutation in request.mutations where !applied.contains(mutation.id) {
        state.refused[mutation.id] = Target(table: mutation.table, pk: mutation.pk)
      }
    }
  }
}
