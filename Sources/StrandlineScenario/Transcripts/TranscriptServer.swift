@_spi(Scenario) internal import StrandlineServer

/// The server of a transcript: given each request, it has to answer what the file says.
struct TranscriptServer {
  private let transcript: Transcript
  private let server: SyncServer
  private let clock = StepClock()
  private let caller: Caller

  /// Runs the server's side of a transcript, on a server of its own.
  static func run(_ transcript: Transcript) async throws(CaseFailure) {
    let directory = try ScratchDirectory()
    defer { directory.remove() }
    let run = try await TranscriptServer(transcript, directory)
    do throws(CaseFailure) {
      try await run.seed()
      for step in transcript.steps {
        run.clock.begin(step: step.number)
        do throws(CaseFailure) { try await run.take(step) } catch { throw error.at(step: step.number) }
      }
    } catch {
      try? await run.server.close()
      throw error
    }
    do throws(ServerStorageFailure) { try await run.server.close() } catch {
      throw CaseFailure("the server", "could not be closed: \(error)")
    }
  }

  private init(_ transcript: Transcript, _ directory: ScratchDirectory) async throws(CaseFailure) {
    self.transcript = transcript
    caller = Caller(userID: transcript.context.userID)
    let clock = clock
    do {
      let storage = try await EmbeddedServerStorage.open(
        at: directory.path + "/server", options: ScenarioStore.options)
      server = try await SyncServer(
        Self.configuration(transcript.context), storage: storage,
        environment: ServerEnvironment(now: { clock.milliseconds() }))
    } catch {
      throw CaseFailure("the server", "could not be made: \(error)")
    }
  }

  private static func configuration(_ context: TranscriptContext) -> ServerConfiguration {
    var configuration = ServerConfiguration(
      tables: context.tables.mapValues { table in
        ServerTable(
          bucketColumn: table.bucketColumn, keyColumns: table.key, conflictMode: table.conflictMode,
          keepsJournal: table.keepsConflictJournal, softDeleteColumn: table.softDeleteColumn,
          schemaVersionMin: context.minSchemaVersion)
      }, tombstoneRetention: .days(Int(context.tombstoneDays)))
    configuration.limits.pullScanCountMax = Int(clamping: context.maxPullScan)
    configuration.limits.mutationCountMax = .max
    return configuration
  }

  private func seed() async throws(CaseFailure) {
    let start = StartState(transcript)
    guard start.high > 0 else { return }
    let state = ServerStartState(
      rows: start.rows, tombstones: start.tombstones, highMark: start.high, reapHorizon: start.reapHorizon)
    do throws(ErrorAnswer) { try await server.seed(state) } catch {
      throw CaseFailure("the start state", "was refused: \(error)")
    }
  }

  private func take(_ step: TranscriptStep) async throws(CaseFailure) {
    switch step.action {
    case .rpc(let call, let request, let response):
      let answer = try await answer(to: request, of: call)
      try expect("rpc \(call.rawValue): response", response, got: answer)
    case .lostAnswer(let call, let request): _ = try await answer(to: request, of: call)
    case .lostRequest, .local, .assert: break
    case .owner(let change): try await write(change)
    case .reap:
      do throws(ErrorAnswer) { try await server.reap(.allTombstones) } catch {
        throw CaseFailure("server reap", "was refused: \(error)")
      }
    }
  }

  private func answer(to json: Value, of call: TranscriptStep.Call) async throws(CaseFailure) -> Value {
    let subject = "rpc \(call.rawValue): request"
    do {
      switch call {
      case .pull: return try await server.pull(PullRequest(json: json), as: caller).body.json
      case .push: return try await server.push(PushRequest(json: json), as: caller).body.json
      }
    } catch let defect as MessageDefect {
      throw CaseFailure(subject, "does not decode: \(defect)")
    } catch {
      throw CaseFailure(subject, "was refused: \(error)")
    }
  }

  private func write(_ change: OwnerChange) async throws(CaseFailure) {
    let write: OwnerWrite
    switch change.operation {
    case .delete: write = .delete(table: change.table, pk: change.pk)
    case .upsert:
      var stamp: HybridTimestamp?
      if let text = change.hlc {
        guard let read = HybridTimestamp(text) else { throw CaseFailure("server upsert", "\"\(text)\" is no stamp") }
        stamp = read
      }
      write = .upsert(table: change.table, pk: change.pk, columns: change.columns, hlc: stamp)
    }
    do throws(ErrorAnswer) { try await server.write([write]) } catch {
      throw CaseFailure("server \(change.operation.rawValue)", "was refused: \(error)")
    }
  }
}
