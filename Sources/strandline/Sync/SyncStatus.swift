import StrandlineSync

/// `strandline sync status`: how far a client has come, and what waits.
struct SyncStatus: Command {
  static let specification = CommandSpecification(
    name: "status",
    summary: "Show a client's owner, cursor, queue and journals.",
    discussion: ["Makes no request. Exit code 1: syncing has stopped, and it says why."],
    positionals: [SyncAccess.positional], options: SyncAccess.options + [.json])

  private let access: SyncAccess
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    access = try SyncAccess(arguments)
    printsJSON = arguments.has("--json")
  }

  private struct Report: Sendable {
    var inspection: SyncInspection
    var stop: SyncStop?
    var rowCounts: [(table: String, count: Int)]
    var rejectionCount: Int
    var overwriteCount: Int
    var deadLetterCount: Int
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try access.settings()
    let access = access
    let report = try AsyncWork.wait {
      try await access.withClient(settings, makes: false) { client in
        var counts: [(table: String, count: Int)] = []
        for table in settings.tables.keys.sorted() {
          counts.append((table, try await client.from(table).select().count()))
        }
        return Report(
          inspection: try await client.inspect(), stop: try await SyncStop(client),
          rowCounts: counts, rejectionCount: try await client.rejections().count,
          overwriteCount: try await client.overwrites().count, deadLetterCount: try await client.deadLetters().count)
      }
    }
    if printsJSON {
      try printJSON(report, settings, console)
    } else {
      for line in lines(report, settings) { try console.print(TerminalText.escaped(line)) }
    }
    return report.stop == nil ? .success : .finding
  }

  private func lines(_ report: Report, _ settings: SyncSettings) -> [String] {
    let state = report.inspection
    var lines = [
      "server    \(settings.url ?? "none named")", "owner     \(state.owner ?? "nobody yet")",
      "client    \(state.clientID ?? "none yet")", "cursor    \(state.cursor)",
    ]
    for (table, count) in report.rowCounts { lines.append("rows      \(table) \(HumanUnits.count(count))") }
    lines.append("queue     \(HumanUnits.number(state.depth, of: "write"))")
    for write in state.head {
      lines.append(
        "  \(UTCTime.text(milliseconds: write.createdAt))  \(write.operation) \(write.table) \(write.pk)"
          + (write.batchID == nil ? "" : "  (batch)"))
    }
    if state.depth > state.head.count { lines.append("  and \(HumanUnits.count(state.depth - state.head.count)) more") }
    lines.append(
      "journal   \(HumanUnits.number(report.rejectionCount, of: "rejection")), "
        + "\(HumanUnits.number(report.overwriteCount, of: "overwrite")), "
        + HumanUnits.number(report.deadLetterCount, of: "dead letter"))
    if let stop = report.stop { lines.append(stop.line(path: access.path, depth: state.depth)) }
    return lines
  }

  private func printJSON(_ report: Report, _ settings: SyncSettings, _ console: Console) throws {
    let state = report.inspection
    var json = JSONWriter(.document)
    json.object { json in
      json.schemaField()
      json.field("remote", settings.url)
      json.field("owner", state.owner)
      json.field("clientID", state.clientID)
      json.field("cursor", state.cursor)
      json.field("blocked", report.stop?.reason.rawValue)
      SyncStop.write(report.stop?.pending, to: &json)
      json.field("lastMutation", state.lastMutationID)
      json.name("rows")
      json.object { json in for (table, count) in report.rowCounts { json.field(table, count) } }
      json.field("queued", state.depth)
      json.name("queue")
      json.array { json in
        for write in state.head {
          json.object { json in
            json.field("mutation", write.mutationID)
            json.field("table", write.table)
            json.field("key", write.pk)
            json.field("operation", write.operation)
            json.field("batch", write.batchID)
            json.field("createdAt", UTCTime.text(milliseconds: write.createdAt))
          }
        }
      }
      json.field("rejections", report.rejectionCount)
      json.field("overwrites", report.overwriteCount)
      json.field("deadLetters", report.deadLetterCount)
    }
    json.endLine()
    try console.out.write(&json)
  }
}
