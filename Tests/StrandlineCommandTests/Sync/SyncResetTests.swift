import Glibc
import StrandlineSync
import StrandlineTestSupport
import Testing

@testable import strandline

/// What `strandline sync` says of client resets that did not happen, and of those that opening a store performs.
@Suite("sync, client resets") struct SyncResetTests {
  /// A client with a row of the server, and one that is queued.
  private static func device(_ tools: SyncedTools) throws -> String {
    let phone = try tools.device("phone")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    #expect(try tools.sync(phone).ending == .exited(0))
    _ = try tools.sync("put", phone, #"{"id":"b"}"#, "--table", "todos")
    return phone
  }

  private static func loseHistory(_ tools: SyncedTools, _ phone: String) throws {
    tools.stop()
    try tools.serve("--new-history")
    try tools.configure(phone, of: "ann")
  }

  @Test func `a gate names the schema version, and with a higher one nothing is lost`() throws {
    let tools = try SyncedTools()
    let phone = try Self.device(tools)
    tools.stop()
    let secret = tools.scratch.file("secret")
    tools.scratch.write(
      Array(
        #"""
        {"tables":{"todos":{"bucket":"owner","schemaVersionMin":2}},"tokens":{"secretFile":"\#(secret)"}}
        """#.utf8), to: "server.json")
    try tools.serve()
    try tools.configure(phone, of: "ann")
    for command in [try tools.sync(phone), try tools.sync("status", phone)] {
      #expect(command.ending == .exited(1), "\(command.errorText)")
      #expect(
        command.text.contains("this is 1; nothing was erased") && command.text.contains("--schema-version above 1"))
      #expect(!command.text.contains("sync reset") && !command.text.contains("erases"))
    }
    let pending = try tools.sync("status", phone, "--json").object()["pendingReset"]
    guard case .object(let members)? = pending else {
      Issue.record("\(String(describing: pending))")
      return
    }
    #expect(members["next"] == "application" && members["schemaVersion"] == 1)
    let dry = try tools.sync(phone, "--dry-run")
    #expect(dry.ending == .exited(1) && dry.errorText.contains("higher schema version"), "\(dry.errorText)")
    let newer = try tools.sync(phone, "--schema-version", "2")
    #expect(newer.ending == .exited(0) && newer.text.contains("1 kept"), "\(newer.text)\(newer.errorText)")
    #expect(try tools.rows(of: phone).count == 2)
  }

  @Test func `what only looks leaves a recorded action, and what performs it says so`() throws {
    for performs in [["sync"], ["sync", "put"]] {
      let tools = try SyncedTools()
      let phone = try Self.device(tools)
      try Self.loseHistory(tools, phone)
      let stopped = try tools.sync(phone, "--client-reset", "manual")
      #expect(stopped.ending == .exited(1))
      #expect(stopped.text.contains("begins anew") && stopped.text.contains("1 queued write will be in that copy only"))
      #expect(stopped.errorText.contains("Nothing was erased") && !stopped.errorText.contains("(_:)"))
      for word in ["status", "rejections", "overwrites", "dead-letters", "resets"] {
        let looked = try tools.sync(word, phone)
        #expect(looked.ending == .exited(word == "status" ? 1 : 0))
        #expect(try tools.rows(of: phone).count == 2, "\(word)")
      }
      #expect(try tools.sync(phone, "--dry-run").ending == .exited(0))
      #expect(try tools.rows(of: phone).count == 2)
      guard case .object(let pending)? = try tools.sync("status", phone, "--json").object()["pendingReset"],
        case .string(let copy)? = pending["keptCopy"]
      else {
        Issue.record("no action is recorded")
        return
      }
      #expect(pending["next"] == "action" && pending["reason"] == "manual")

      let run = try ToolRun(performs + [phone] + (performs.count == 1 ? [] : [#"{"id":"c"}"#, "--table", "todos"]))
      #expect(run.ending == .exited(0), "\(run.errorText)")
      let told = performs.count == 1 ? run.text : run.errorText
      #expect(
        told.contains("reset (manual): ") && told.contains("1 discarded") && told.contains("2 removed"), "\(told)")
      #expect(told.contains("the state before it: \(copy)"))
      #expect(try tools.rows(of: phone).count == 1)
      #expect(try tools.rows(of: copy, "strandline.outbox").count == 1)
      let listed = try tools.sync("resets", phone)
      #expect(listed.lines.count == 4 && !listed.text.contains("\\n"), "\(listed.text)")
    }
  }

  @Test func `reset behind a refused one keeps the queue in the copy, and tells its loss`() throws {
    let tools = try SyncedTools()
    let phone = try Self.device(tools)
    try Self.loseHistory(tools, phone)
    #expect(try tools.sync(phone, "--client-reset", "manual").ending == .exited(1))
    let report = try tools.sync("reset", phone, "--yes", "--keep-copy", "--json").object()
    #expect(report["lostWrites"] == ["todos": 1])
    guard case .string(let copy)? = report["keptCopy"] else {
      Issue.record("\(report)")
      return
    }
    #expect(try tools.rows(of: copy, "strandline.outbox").count == 1)
  }

  @Test func `--start-reset recovers where the mode was manual, and whenever it is asked for`() throws {
    let tools = try SyncedTools()
    let phone = try Self.device(tools)
    #expect(try tools.sync(phone, "--start-reset").text.contains("reset (recover): the application asks for a reset"))
    _ = try tools.sync("put", phone, #"{"id":"c"}"#, "--table", "todos")
    #expect(try tools.sync(phone, "--start-reset", "--follow").ending == .exited(2))
    let again = try tools.sync(phone, "--start-reset", "--json").object()
    #expect(again["queued"] == 0 && again["blocked"] == .null && again["pendingReset"] == .null)
    #expect(try tools.rows(of: phone).count == 3)
    // In the place of a recorded action, which would have left the queue in the copy.
    _ = try tools.sync("put", phone, #"{"id":"d"}"#, "--table", "todos")
    try Self.loseHistory(tools, phone)
    #expect(try tools.sync(phone, "--client-reset", "manual").ending == .exited(1))
    let recovered = try tools.sync(phone, "--start-reset")
    #expect(recovered.ending == .exited(0) && recovered.text.contains("reset (recover): "), "\(recovered.errorText)")
    #expect(recovered.text.contains("1 kept") && !recovered.text.contains("manual"))
    #expect(try tools.rows(of: phone).count == 4)
  }

  @Test func `a write to a table that is not configured is deferred, not kept, and is named`() throws {
    let tools = try SyncedTools(tables: #"{"todos":{"bucket":"owner"},"other":{"bucket":"owner"}}"#)
    let phone = try Self.device(tools)
    try Self.loseHistory(tools, phone)
    try tools.configure(phone, of: "ann", tables: #"{"other":{"owner":"owner"}}"#)
    for arguments in [[phone, "--dry-run"], [phone]] {
      let run = try ToolRun(["sync"] + arguments)
      #expect(run.text.contains("0 kept") && run.text.contains("1 deferred"), "\(run.text)\(run.errorText)")
      #expect(run.text.contains("queued and not shown: todos b: tableNotConfigured"))
      #expect(run.text.contains("2 removed"))
    }
    let report = try tools.sync("resets", phone, "--jsonl").object()
    #expect(report["bytesDownloaded"] != nil && report["afterCalls"] == 0 && report["afterCallback"] == .null)
  }

  @Test func `a token of two lines, a bad line behind a good one, a port that there is not`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    let file = tools.scratch.write(Array("abc\u{0D}def\n".utf8), to: "two")
    let run = try tools.sync(phone, "--token-file", file)
    #expect(run.ending == .exited(2) && run.errorText.contains("one line without spaces"), "\(run.errorText)")
    #expect(!run.errorText.contains("abc"))
    let put = try tools.sync("put", phone, "-", "--table", "todos", input: "{\"id\":\"a\"}\n{\"id\":\n")
    #expect(
      put.ending != .exited(0) && put.errorText.contains("line 2") && put.errorText.contains("Nothing was written"))
    #expect(try tools.rows(of: phone).isEmpty)
    let port = try tools.sync(
      "init", tools.scratch.file("other"), "--remote", "http://127.0.0.1:99999", "--table", "todos")
    #expect(port.ending == .exited(2) && port.errorText.contains("99999 is no port"), "\(port.errorText)")
  }
}
