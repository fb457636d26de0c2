import StrandlineSync

/// The report of a client reset for people and for programs.
enum ResetText {
  static func lines(_ report: ClientResetReport) -> [String] {
    let entries = report.entries
    let rows = report.rowsByTable.values.reduce(into: ClientResetReport.Rows()) { sum, rows in
      sum.added += rows.added
      sum.changed += rows.changed
      sum.removed += rows.removed
    }
    let verb = report.isPreview ? "would reset" : "reset"
    var lines = [
      "\(verb) (\(report.effectiveMode.rawValue)): \(report.demand.message)",
      "  of \(HumanUnits.number(entries.pending, of: "queued write")): \(entries.kept) kept, \(entries.settled) settled, "
        + "\(entries.dropped) dropped, \(entries.deferred) deferred, \(entries.discarded) discarded",
      "  rows: \(rows.added) added, \(rows.changed) changed, \(rows.removed) removed",
    ]
    for fallback in report.fallbacks { lines.append("  not \(fallback.mode.rawValue): \(fallback.message)") }
    for dropped in report.dropped {
      let column = dropped.column.map { " \($0)" } ?? ""
      lines.append("  dropped \(dropped.operation) \(dropped.table) \(dropped.pk)\(column): \(dropped.reason.rawValue)")
    }
    if report.droppedTruncated { lines.append("  and more that were dropped") }
    for deferred in report.deferred {
      lines.append("  queued and not shown: \(deferred.table) \(deferred.pk): \(deferred.reason.rawValue)")
    }
    if report.deferredTruncated { lines.append("  and more that are queued and not shown") }
    if let path = report.keptCopy.path { lines.append("  the state before it: \(path)") }
    return lines
  }

  /// Tells of a reset that opening the client has performed, beside a command's own output.
  static func note(_ report: ClientResetReport?, _ console: Console) {
    guard let report else { return }
    for line in lines(report) { console.note(TerminalText.escaped(line)) }
  }

  /// The fields of a report, in an object that is open.
  static func write(_ report: ClientResetReport, to json: inout JSONWriter) {
    json.field("attempt", report.attemptID)
    json.field("isPreview", report.isPreview)
    json.field("configuredMode", report.configuredMode.rawValue)
    json.field("effectiveMode", report.effectiveMode.rawValue)
    json.field("didRecover", report.didRecover)
    json.field("demand", report.demand.kind.rawValue)
    json.field("message", report.demand.message)
    json.field("startedAt", UTCTime.text(milliseconds: report.startedAt))
    json.field("switchedAt", report.switchedAt == 0 ? nil : UTCTime.text(milliseconds: report.switchedAt))
    json.field("writersBlockedNanoseconds", report.writersBlockedFor)
    json.field("pages", report.pages)
    json.field("bytesDownloaded", report.bytesDownloaded)
    json.field("epoch", report.epoch)
    json.name("entries")
    json.object { json in write(report.entries, to: &json) }
    json.name("tables")
    json.array { json in
      for (table, entries) in report.entriesByTable.sorted(by: { $0.key < $1.key }) {
        json.object { json in
          json.field("table", table)
          write(entries, to: &json)
        }
      }
    }
    json.name("rows")
    json.array { json in
      for (table, rows) in report.rowsByTable.sorted(by: { $0.key < $1.key }) {
        json.object { json in
          json.field("table", table)
          json.field("added", rows.added)
          json.field("changed", rows.changed)
          json.field("removed", rows.removed)
          json.field("localOnlyLost", rows.localOnlyLost)
        }
      }
    }
    json.name("fallbacks")
    json.array { json in
      for fallback in report.fallbacks {
        json.object { json in
          json.field("mode", fallback.mode.rawValue)
          json.field("reason", fallback.reason.rawValue)
          json.field("message", fallback.message)
        }
      }
    }
    json.name("dropped")
    json.array { json in
      for dropped in report.dropped {
        json.object { json in
          json.field("mutation", dropped.mutationID)
          json.field("table", dropped.table)
          json.field("key", dropped.pk)
          json.field("operation", dropped.operation)
          json.field("column", dropped.column)
          json.field("reason", dropped.reason.rawValue)
          json.field("batch", dropped.batchID)
          json.field("culprit", dropped.culprit)
        }
      }
    }
    json.field("droppedTruncated", report.droppedTruncated)
    json.name("deferred")
    json.array { json in
      for deferred in report.deferred {
        json.object { json in
          json.field("mutation", deferred.mutationID)
          json.field("table", deferred.table)
          json.field("key", deferred.pk)
          json.field("reason", deferred.reason.rawValue)
        }
      }
    }
    json.field("deferredTruncated", report.deferredTruncated)
    json.field("queued", report.outboxDepth)
    json.field("keptCopy", report.keptCopy.path)
    json.field("keptCopyAbsence", report.keptCopy.absence)
    json.field("beforeCallback", text(report.beforeCallback))
    json.field("beforeCalls", report.beforeCallCount)
    json.field("afterCallback", text(report.afterCallback))
    json.field("afterCalls", report.afterCallCount)
  }

  /// How a callback ended; nil: there was none.
  private static func text(_ callback: ClientResetReport.Callback) -> String? {
    switch callback {
    case .none: nil
    case .running: "running"
    case .returned: "returned"
    case .threw(let text): "threw: \(text)"
    case .timedOut: "timedOut"
    case .gaveUp: "gaveUp"
    }
  }

  private static func write(_ entries: ClientResetReport.Entries, to json: inout JSONWriter) {
    json.field("pending", entries.pending)
    json.field("kept", entries.kept)
    json.field("merged", entries.merged)
    json.field("settled", entries.settled)
    json.field("withdrawn", entries.withdrawn)
    json.field("dropped", entries.dropped)
    json.field("deferred", entries.deferred)
    json.field("discarded", entries.discarded)
  }
}
