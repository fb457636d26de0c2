import StrandlineSync

/// A round of syncing for people and for programs.
enum RoundText {
  static func lines(_ round: SyncRound, path: String) -> [String] {
    let counts = round.counts
    var lines = [
      "pushed \(HumanUnits.number(counts.applied, of: "write")), pulled \(HumanUnits.number(counts.rows, of: "row")) and "
        + "\(HumanUnits.number(counts.deletions, of: "deletion"))"
    ]
    for event in round.events {
      switch event {
      case .mutationRejected(let id, let reason): lines.append("rejected \(name(id, round)): \(reason)")
      case .batchAborted(let id, let reason): lines.append("batch undone because of \(name(id, round)): \(reason)")
      case .deadLetter(let id, let reason): lines.append("given up \(name(id, round)): \(reason)")
      case .columnOverwritten(let loss):
        lines.append(
          "overwritten \(loss.table) \(loss.pk) \(loss.column): \(loss.loserValue.json) lost to a later write")
      case .didReset(let report): lines += ResetText.lines(report)
      case .checkpointExpired: lines.append("the server has forgotten deletions since the cursor: all is pulled anew")
      default: break
      }
    }
    if let stop = round.stop { lines.append(stop.line(path: path, depth: round.depth)) }
    if round.depth > 0 { lines.append("\(HumanUnits.number(round.depth, of: "write")) queued") }
    return lines.map(TerminalText.escaped)
  }

  private static func name(_ id: String, _ round: SyncRound) -> String {
    round.targets[id].map { "\($0.table) \($0.pk)" } ?? id
  }

  static func write(_ round: SyncRound, to json: inout JSONWriter) {
    json.object { json in
      json.schemaField()
      json.field("event", "round")
      json.field("pushed", round.counts.applied)
      json.field("pulledRows", round.counts.rows)
      json.field("pulledDeletions", round.counts.deletions)
      json.field("requests", round.counts.requests)
      json.name("events")
      json.array { json in for event in round.events { write(event, round, to: &json) } }
      json.field("queued", round.depth)
      json.field("cursor", round.cursor)
      json.field("blocked", round.stop?.reason.rawValue)
      SyncStop.write(round.stop?.pending, to: &json)
      json.name("error")
      if let error = round.error { write(error, to: &json) } else { json.null() }
      let (seconds, attoseconds) = round.duration.components
      json.field("milliseconds", seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
    json.endLine()
  }

  /// Changes of rows and of the queue are told by the figures.
  private static func write(_ event: SyncEvent, _ round: SyncRound, to json: inout JSONWriter) {
    switch event {
    case .mutationRejected(let id, let reason), .batchAborted(let id, let reason), .deadLetter(let id, let reason):
      json.object { json in
        json.field("event", event.name)
        json.field("mutation", id)
        json.field("table", round.targets[id]?.table)
        json.field("key", round.targets[id]?.pk)
        json.field("reason", reason)
      }
    case .columnOverwritten(let loss):
      json.object { json in
        json.field("event", event.name)
        json.field("table", loss.table)
        json.field("key", loss.pk)
        json.field("column", loss.column)
        json.field("lost", loss.loserValue)
        json.field("winner", loss.winnerMutationID)
      }
    case .didReset(let report):
      json.object { json in
        json.field("event", event.name)
        ResetText.write(report, to: &json)
      }
    case .checkpointExpired, .resetRequired: json.object { json in json.field("event", event.name) }
    default: break
    }
  }

  /// How a scheduler is doing.
  static func write(_ health: SyncHealth, to json: inout JSONWriter) {
    json.object { json in
      json.schemaField()
      json.field("event", "health")
      json.field("phase", health.phase.rawValue)
      json.field("failures", health.consecutiveFailures)
      json.field("nextAttemptAt", health.nextAttemptAt.map { UTCTime.text(milliseconds: $0) })
      json.field("lastSuccessAt", health.lastSuccessAt.map { UTCTime.text(milliseconds: $0) })
      json.field("code", health.lastError?.code)
      json.field("message", health.lastError?.message)
    }
    json.endLine()
  }

  private static func write(_ error: SyncError, to json: inout JSONWriter) {
    json.object { json in
      json.field("code", error.catalogueCode?.rawValue ?? "\(error.code)")
      json.field("transportCode", error.serverCode?.rawValue)
      json.field("message", error.message)
      json.field("isFatal", error.isFatal)
      json.field("isTransient", error.isTransient)
      json.field("action", error.action.rawValue)
    }
  }
}
