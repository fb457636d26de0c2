@_spi(Engine) import StrandlineLog
import StrandlineProtocol

@testable @_spi(Scenario) import StrandlineSync

/// A dull sync server in memory: rows, tombstones, a ledger by mutation id, and a history that can be lost.
final class SmallServer: Remote {
  struct Content: Hashable, Sendable {
    var rows: [RowName: RowImage] = [:]
    var gone: [RowName: Int64] = [:]
    /// What was answered for an id; nil: applied.
    var ledger: [String: String?] = [:]
    var number: Int64 = 0
  }

  struct State: Sendable {
    var content = Content()
    var history = SmallServer.name(of: 1)
    var historyCount = 1
    var pageRowCount = 3
    /// What pages are said to have come in; nil: nothing is said.
    var pageByteCount: Int?
    var isRecoveryForbidden = false
    /// Clients of a lower version are told to reset, without a cause.
    var schemaVersionMin: Int64 = 1
    var unknownTables: [String] = []
    /// Histories whose clients are told that the history is lost, with the cause.
    var saysCause = true
    /// Every answer comes from a history of its own.
    var isUnstable = false
    /// What pulls of a fresh copy are answered with first.
    var freshAnswers: [ScriptedRemote.PullStep] = []
    var freshPullCount = 0
    var pullCount = 0
    var pushCount = 0
    /// Of pulls of a fresh copy.
    var clientIDs: [String] = []
    /// Of all other requests.
    var settledIDs: [String] = []
    var pushedIDs: [String] = []
    /// Pushes that are applied and whose answers are lost.
    var losesPushAnswers = 0
    var isOffline = false
    var needsToken = false
    /// Writes that name one of them are rejected.
    var refusedColumns: Set<String> = []
    /// Called in front of each pull of a fresh copy.
    var beforeFreshPull: (@Sendable () async -> Void)?
  }

  private let state = Lock(State())

  func change<Result>(_ body: (inout State) -> Result) -> Result { state.withLock { body(&$0) } }
  var now: State { state.withLock { $0 } }

  private static func name(of number: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  // MARK: What operators do

  func put(_ pk: String, _ columns: [String: Value], in table: String = "todos") {
    change { state in
      state.content.number += 1
      let name = RowName(table: table, pk: pk)
      state.content.rows[name] = RowImage(columns, seq: "\(state.content.number)")
      state.content.gone[name] = nil
    }
  }

  func remove(_ pk: String, in table: String = "todos") {
    change { state in
      state.content.number += 1
      let name = RowName(table: table, pk: pk)
      state.content.rows[name] = nil
      state.content.gone[name] = state.content.number
    }
  }

  /// Puts an older state back: another history.
  func restore(_ content: Content? = nil) {
    change { state in
      if let content { state.content = content }
      state.historyCount += 1
      state.history = Self.name(of: state.historyCount)
    }
  }

  func columns(_ pk: String, in table: String = "todos") -> [String: Value]? {
    now.content.rows[RowName(table: table, pk: pk)]?.columns
  }

  // MARK: Remote

  private func notes(_ state: inout State) -> AnswerNotes {
    if state.isUnstable {
      state.historyCount += 1
      state.history = Self.name(of: state.historyCount)
    }
    return AnswerNotes(
      history: "\(state.history);\(state.content.number);0000000000000000",
      isRecoveryForbidden: state.isRecoveryForbidden, unknownTables: state.unknownTables)
  }

  /// The demand for a reset; nil: none.
  private func gate(_ version: Int64?, _ history: String?, _ state: State, _ notes: inout AnswerNotes) -> Bool {
    if version ?? 0 < state.schemaVersionMin { return true }
    guard let anchor = history.flatMap({ HistoryAnchor($0) }), anchor.history != state.history else { return false }
    if state.saysCause { notes.resetCause = AnswerNotes.historyCause }
    return state.saysCause
  }

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    let isFresh = context.history == nil
    if isFresh, let body = now.beforeFreshPull { await body() }
    let step = change { state -> ScriptedRemote.PullStep? in
      state.pullCount += 1
      if state.isOffline { return .failure(ScriptedRemote.offline) }
      if state.needsToken, context.accessToken == nil { return .failure(.refused(.sessionMissing)) }
      if !isFresh {
        state.settledIDs.append(request.clientID ?? "")
        return nil
      }
      state.freshPullCount += 1
      state.clientIDs.append(request.clientID ?? "")
      return state.freshAnswers.isEmpty ? nil : state.freshAnswers.removeFirst()
    }
    switch step {
    case .answer(let answer, let notes)?: return RemoteAnswer(body: answer, notes: notes)
    case .failure(let failure)?: throw failure
    case .held(let door, let answer)?:
      await door.pass()
      return RemoteAnswer(body: answer)
    case .heldFailure(let door, let failure)?:
      await door.pass()
      throw failure
    case nil: break
    }
    return change { state in
      var notes = notes(&state)
      if gate(request.schemaVersion, context.history, state, &notes) {
        return RemoteAnswer(body: .signal("RESET_REQUIRED", cursor: request.cursor), notes: notes)
      }
      notes.receivedByteCount = state.pageByteCount
      return RemoteAnswer(body: page(request, state), notes: notes)
    }
  }

  private func page(_ request: PullRequest, _ state: State) -> PullAnswer {
    let parts = request.cursor.split(separator: "+")
    let since = Int64(parts[0]) ?? 0
    let offset = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    func isWanted(_ name: RowName, _ columns: [String: Value]?) -> Bool {
      guard let bucket = request.buckets.first(where: { $0.table == name.table }) else { return false }
      guard let columns else { return true }
      return bucket.params.allSatisfy { columns[$0.key] == $0.value }
    }
    var answer = PullAnswer(cursor: "\(state.content.number)")
    let rows = state.content.rows.filter { Int64($0.value.seq) ?? 0 > since && isWanted($0.key, $0.value.columns) }
    let gone = state.content.gone.filter { $0.value > since && isWanted($0.key, nil) }
    let names = (Array(rows.keys) + Array(gone.keys)).sorted()
    for name in names.dropFirst(offset).prefix(state.pageRowCount) {
      if let row = rows[name] {
        answer.rows.append(.init(table: name.table, pk: name.pk, row: row.columns, seq: row.seq))
      } else {
        answer.tombstones.append(
          .init(table: name.table, pk: name.pk, seq: "\(gone[name] ?? 0)", deletedAt: nil))
      }
    }
    if offset + state.pageRowCount < names.count {
      answer.cursor = "\(since)+\(offset + state.pageRowCount)"
      answer.hasMore = true
    }
    return answer
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    let outcome = change { state -> Result<RemoteAnswer<PushAnswer>, RemoteFailure> in
      state.pushCount += 1
      if state.isOffline { return .failure(ScriptedRemote.offline) }
      if state.needsToken, context.accessToken == nil { return .failure(.refused(.sessionMissing)) }
      var notes = notes(&state)
      if gate(request.schemaVersion, context.history, state, &notes) {
        return .success(RemoteAnswer(body: PushAnswer(signal: .resetRequired), notes: notes))
      }
      state.settledIDs.append(request.clientID ?? "")
      state.pushedIDs += request.mutations.map(\.id)
      var verdicts: [PushAnswer.Verdict] = []
      let before = state.content
      for mutation in request.mutations {
        let verdict = Self.judge(mutation, state.refusedColumns, &state.content)
        verdicts.append(verdict)
        guard request.isAtomic, verdict.kind == "rejected" else { continue }
        state.content = before
        return .success(
          RemoteAnswer(
            body: PushAnswer(
              abort: .init(
                outcome: "aborted", offenderMutationID: mutation.id, reason: verdict.reason ?? "",
                serverRow: verdict.serverRow)), notes: notes))
      }
      if state.losesPushAnswers > 0 {
        state.losesPushAnswers -= 1
        return .failure(ScriptedRemote.offline)
      }
      return .success(RemoteAnswer(body: PushAnswer(verdicts: verdicts), notes: notes))
    }
    return try outcome.get()
  }

  private static func judge(
    _ mutation: Mutation, _ refusedColumns: Set<String>, _ content: inout Content
  ) -> PushAnswer.Verdict {
    let name = RowName(table: mutation.table, pk: mutation.pk)
    let present = content.rows[name]?.columns
    let hasTransforms = mutation.transforms?.isEmpty == false
    if let known = content.ledger[mutation.id] {
      if let reason = known {
        return .init(mutationID: mutation.id, kind: "rejected", reason: reason, serverRow: present)
      }
      return .applied(mutation.id, serverRow: hasTransforms ? present : nil)
    }
    func reject(_ reason: RejectionReason) -> PushAnswer.Verdict {
      content.ledger[mutation.id] = .some(reason.rawValue)
      return .rejected(mutation.id, reason, serverRow: present)
    }
    if !refusedColumns.isDisjoint(with: mutation.columns.keys) { return reject(.columnDenied) }
    if content.gone[name] != nil, mutation.operation != "delete" { return reject(.deleteWins) }
    switch mutation.operation {
    case "delete":
      if present != nil {
        content.number += 1
        content.rows[name] = nil
        content.gone[name] = content.number
      }
    case "insert", "update":
      if mutation.operation == "update", present == nil { return reject(.rowDenied) }
      var columns = present ?? [:]
      columns.merge(mutation.columns) { _, new in new }
      for (column, json) in mutation.transforms ?? [:] {
        guard let transform = try? Transform(json, for: .client), let value = transform.applied(to: columns[column])
        else { return reject(.constraint) }
        columns[column] = value
      }
      content.number += 1
      content.rows[name] = RowImage(columns, seq: "\(content.number)")
    default: return reject(.constraint)
    }
    content.ledger[mutation.id] = .some(nil)
    return .applied(mutation.id, serverRow: hasTransforms ? content.rows[name]?.columns : nil)
  }
}
