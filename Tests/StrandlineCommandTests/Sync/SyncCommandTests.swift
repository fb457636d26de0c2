import Glibc
import StrandlineSync
import StrandlineTestSupport
import Testing

@testable import strandline

/// `strandline sync` against a real `strandline serve`.
@Suite("sync") struct SyncCommandTests {
  @Test func `what one device writes another has after a round of each`() throws {
    let tools = try SyncedTools()
    let (phone, laptop) = (try tools.device("phone"), try tools.device("laptop"))
    #expect(try tools.sync("put", phone, #"{"id":"a","n":1}"#, "--table", "todos").text == "queued insert todos a\n")
    let pushed = try tools.sync(phone, "--json")
    #expect(pushed.ending == .exited(0) && pushed.errors.isEmpty, "\(pushed.errorText)")
    var round = try pushed.object()
    #expect(round["pushed"] == 1 && round["pulledRows"] == 1 && round["queued"] == 0 && round["cursor"] == "1")
    #expect(round["events"] == [] && round["error"] == .null && round["blocked"] == .null)
    round = try tools.sync(laptop, "--jsonl").object()
    #expect(round["pushed"] == 0 && round["pulledRows"] == 1 && round["event"] == "round")
    #expect(try tools.rows(of: laptop) == [#"{"id":"a","n":1,"owner":"ann"}"#])

    #expect(try tools.sync("delete", laptop, "--table", "todos", "--key", "a", "--yes").ending == .exited(0))
    #expect(try tools.sync(laptop).ending == .exited(0))
    #expect(try tools.sync(phone).text == "pushed 0 writes, pulled 0 rows and 1 deletion\n")
    #expect(try tools.rows(of: phone).isEmpty)
  }

  @Test func `without a server nothing is lost, and the code is 4`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    tools.stop()
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    let run = try tools.sync(phone, "--json")
    #expect(run.ending == .exited(4))
    #expect(run.errorText.hasPrefix("strandline sync: REMOTE: "))
    let round = try run.object()
    guard case .object(let error)? = round["error"] else {
      Issue.record("\(run.text)")
      return
    }
    #expect(error["code"] == "REMOTE" && error["isTransient"] == true && round["queued"] == 1)
  }

  @Test func `a token comes from a file or the environment, and is in no output`() throws {
    let tools = try SyncedTools()
    let phone = tools.scratch.file("phone")
    let flags = ["sync", phone, "--remote", tools.url, "--table", "todos:owner=owner"]
    let none = try ToolRun(flags, environment: [])
    #expect(none.ending == .exited(2) && none.errorText.contains("STRANDLINE_TOKEN"))
    #expect(try ToolRun(flags, environment: ["STRANDLINE_TOKEN=\(ServedTool.token)"]).ending == .exited(0))
    let file = try tools.tokenFile(of: "ann")
    #expect(try ToolRun(flags + ["--token-file", file]).ending == .exited(0))
    #expect(try ToolRun(flags + ["--token-file", tools.scratch.write([0x0A], to: "empty")]).ending == .exited(2))
    #expect(try ToolRun(flags + ["--token-file", tools.scratch.file("none")]).ending == .exited(4))

    let wrong = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDB9.c2VjcmV0"
    let refused = try ToolRun(flags + ["--jsonl"], environment: ["STRANDLINE_TOKEN=\(wrong)"])
    #expect(refused.ending == .exited(4) && refused.errorText.contains("PGRST301"), "\(refused.errorText)")
    #expect(!refused.text.contains("c2VjcmV0") && !refused.errorText.contains("c2VjcmV0"))
  }

  @Test func `a refused write is undone, told with code 1, and listed until it is dismissed`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    _ = try tools.sync("put", phone, #"{"id":"b","owner":"bob"}"#, "--table", "todos")
    let run = try tools.sync(phone)
    #expect(run.ending == .exited(1))
    #expect(run.lines.contains("rejected todos b: RLS_DENIED"))
    #expect(try tools.rows(of: phone).isEmpty)
    let list = try tools.sync("rejections", phone, "--jsonl").object()
    #expect(list["reason"] == "RLS_DENIED" && list["kind"] == "REJECTED" && list["key"] == "b")
    #expect(list["changedColumns"] == ["id", "owner"] && list["isDismissed"] == false)
    guard case .string(let id)? = list["mutation"] else { return }
    #expect(try tools.sync("rejections", phone, "--dismiss", "other").ending == .exited(1))
    #expect(try tools.sync("rejections", phone, "--dismiss", id).ending == .exited(0))
    #expect(try tools.sync("rejections", phone).text.isEmpty)
    #expect(try tools.sync("rejections", phone, "--all").lines.count == 1)
  }

  @Test func `a value that lost is in the journal of the device that wrote it`() throws {
    let tools = try SyncedTools(tables: #"{"todos":{"bucket":"owner","journal":true}}"#)
    let (phone, laptop) = (try tools.device("phone"), try tools.device("laptop"))
    _ = try tools.sync("put", phone, #"{"id":"a","n":1}"#, "--table", "todos")
    for device in [phone, laptop] { #expect(try tools.sync(device).ending == .exited(0)) }
    _ = try tools.sync("put", phone, #"{"id":"a","n":2}"#, "--table", "todos")
    _ = try tools.sync("put", laptop, #"{"id":"a","n":3}"#, "--table", "todos")
    for device in [phone, laptop] { #expect(try tools.sync(device).ending == .exited(0)) }
    let round = try tools.sync(phone, "--json").object()
    guard case .array(let events)? = round["events"], case .object(let event)? = events.first else {
      Issue.record("\(round)")
      return
    }
    #expect(event["event"] == "COLUMN_OVERWRITTEN" && event["column"] == "n" && event["lost"] == 2)
    let entry = try tools.sync("overwrites", phone, "--jsonl").object()
    #expect(entry["lost"] == 2 && entry["key"] == "a" && entry["conflictMode"] == "arrival")
    guard case .int(let id)? = entry["id"] else { return }
    #expect(try tools.sync("overwrites", phone, "--dismiss", "\(id)").ending == .exited(0))
    #expect(try tools.sync("overwrites", phone).text.isEmpty)
    #expect(try tools.rows(of: phone) == tools.rows(of: laptop))
  }

  @Test func `a write that is refused for good is given up at the fifth attempt, and can be queued again or dropped`()
    throws
  {
    let tools = try SyncedTools()
    let tables = #"{"todos":{"owner":"owner"},"extras":{}}"#
    let phone = try tools.device("phone", tables: tables)
    _ = try tools.sync("put", phone, #"{"id":"x"}"#, "--table", "extras")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    let refused = try tools.sync(phone)
    #expect(refused.ending == .exited(4) && refused.errorText.contains("PERMANENT_TRANSPORT"), "\(refused.errorText)")
    #expect(refused.lines.contains("2 writes queued"))
    let given = try tools.sync(phone, "--attempts", "5")
    #expect(given.ending == .exited(1), "\(given.errorText)")
    #expect(given.lines.first?.hasPrefix("pushed 1 write") == true && given.text.contains("given up extras x: "))
    #expect(try tools.rows(of: phone, "extras").isEmpty && tools.rows(of: phone).count == 1)

    let letter = try tools.sync("dead-letters", phone, "--jsonl").object()
    #expect(letter["table"] == "extras" && letter["operation"] == "insert" && letter["key"] == "x")
    guard case .string(let id)? = letter["mutation"] else { return }
    #expect(try tools.sync("dead-letters", phone, "--requeue", id).text == "\(id): queued\n")
    #expect(try tools.sync("dead-letters", phone).text.isEmpty)
    #expect(try tools.rows(of: phone, "extras").count == 1)
    #expect(try tools.sync(phone, "--attempts", "5").ending == .exited(1))
    #expect(try tools.sync("dead-letters", phone, "--drop", id).ending == .exited(0))
    #expect(try tools.sync("dead-letters", phone, "--drop", id).ending == .exited(1))
    let status = try tools.sync("status", phone, "--json").object()
    #expect(status["queued"] == 0 && status["deadLetters"] == 0 && status["rejections"] == 1)
  }

  @Test func `a token of another user stops syncing until the owner's is back, or a reset`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    #expect(try tools.sync(phone).ending == .exited(0))
    let bob = try tools.tokenFile(of: "bob")
    let stopped = try tools.sync(phone, "--token-file", bob)
    #expect(stopped.ending == .exited(1) && stopped.text.contains("the token is another user's"))
    #expect(try tools.sync("status", phone).ending == .exited(1))
    #expect(try tools.sync(phone).ending == .exited(1))
    #expect(try tools.sync(phone, "--resume").ending == .exited(0))
    #expect(try tools.sync("status", phone).text.contains("owner     ann\n"))

    _ = try tools.sync("put", phone, #"{"id":"b"}"#, "--table", "todos")
    #expect(try tools.sync("reset", phone).ending == .exited(2))
    let report = try tools.sync("reset", phone, "--yes", "--keep-copy", "--json").object()
    #expect(report["lostWrites"] == ["todos": 1] && report["epochAfter"] == 1)
    guard case .string? = report["keptCopy"] else {
      Issue.record("no copy was kept: \(report)")
      return
    }
    // The settings' token is Ann's; the reset client has no owner before it sees one.
    #expect(try tools.sync(phone, "--token-file", bob).ending == .exited(0))
    let status = try tools.sync("status", phone, "--token-file", bob, "--json").object()
    #expect(status["owner"] == "bob" && status["rows"] == ["todos": 0] && status["queued"] == 0)
  }

  @Test func `a server with a new history resets its clients, each in its mode`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    let laptop = try tools.device("laptop")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    #expect(try tools.sync(phone).ending == .exited(0))
    #expect(try tools.sync(laptop).ending == .exited(0))
    tools.stop()
    try tools.serve("--new-history")
    try tools.configure(phone, of: "ann")
    try tools.configure(laptop, of: "ann")
    _ = try tools.sync("put", phone, #"{"id":"b"}"#, "--table", "todos")
    _ = try tools.sync("put", laptop, #"{"id":"c"}"#, "--table", "todos")

    let preview = try tools.sync(phone, "--dry-run", "--json")
    #expect(preview.ending == .exited(0), "\(preview.errorText)")
    let told = try preview.object()
    #expect(told["isPreview"] == true && told["effectiveMode"] == "recover")
    #expect(try tools.sync("resets", phone).text == "")

    let round = try tools.sync(phone, "--json").object()
    #expect(round["blocked"] == .null && round["error"] == .null && round["queued"] == 0)
    #expect(try tools.rows(of: phone).count == 2)
    let reports = try tools.sync("resets", phone, "--json").object()
    guard case .array(let entries)? = reports["entries"], entries.count == 1, case .object(let report) = entries[0],
      case .object(let counts)? = report["entries"]
    else {
      Issue.record("\(reports)")
      return
    }
    #expect(report["didRecover"] == true && report["demand"] == "history")
    #expect(counts["pending"] == 1 && counts["kept"] == 1)

    let discarded = try tools.sync(laptop, "--client-reset", "discard")
    #expect(discarded.ending == .exited(0), "\(discarded.errorText)")
    #expect(discarded.text.contains("reset (discard): ") && discarded.text.contains("1 discarded"))
    #expect(try tools.rows(of: laptop) == tools.rows(of: phone))
    #expect(try tools.sync(laptop, "--client-reset", "never").ending == .exited(2))
  }

  @Test func `a bucket of the app's own wants its value`() throws {
    let tools = try SyncedTools(tables: #"{"tasks":{"bucket":"team","open":true}}"#)
    let phone = try tools.device("phone", tables: #"{"tasks":{"bucket":"team"}}"#)
    for (id, team) in [("a", "red"), ("b", "blue")] {
      _ = try tools.sync("put", phone, #"{"id":"\#(id)","team":"\#(team)"}"#, "--table", "tasks")
    }
    let unset = try tools.sync(phone)
    #expect(unset.ending == .exited(2) && unset.errorText.contains("BUCKET_UNSET"))
    #expect(try tools.sync(phone, "--bucket", "team=red").ending == .exited(0))
    let laptop = try tools.device("laptop", tables: #"{"tasks":{"bucket":"team","bucketValue":"blue"}}"#)
    #expect(try tools.sync(laptop).ending == .exited(0))
    #expect(try tools.rows(of: laptop, "tasks") == [#"{"id":"b","team":"blue"}"#])
    #expect(try tools.sync(laptop, "--bucket", "team=red").ending == .exited(0))
    #expect(try tools.rows(of: laptop, "tasks") == [#"{"id":"a","team":"red"}"#])
    #expect(try tools.sync(laptop, "--bucket", "taem=red").ending == .exited(2))
  }

  @Test func `init makes a client once, and not among somebody else's files`() throws {
    let tools = try SyncedTools()
    let phone = tools.scratch.file("phone")
    let token = try tools.tokenFile(of: "ann")
    let arguments = ["--remote", tools.url, "--table", "todos:owner=owner", "--token-file", token]
    #expect(try ToolRun(["sync", "init", phone] + arguments).text == "\(phone): a client of \(tools.url)\n")
    let settings = try SyncSettings(file: "\(phone)/\(SyncSettings.fileName)")
    #expect(settings.url == tools.url && settings.tokenFile == token)
    #expect(settings.tables["todos"] == TableConfiguration(bucket: .byOwner("owner")))
    let again = try ToolRun(["sync", "init", phone] + arguments)
    #expect(again.ending == .exited(2) && again.errorText.contains("there already"))
    let full = try ToolRun(["sync", "init", tools.scratch.path] + arguments)
    #expect(full.ending == .exited(4) && full.errorText.contains("but other files"))
    let none = try ToolRun(["sync", "init", tools.scratch.file("no/store")] + arguments)
    #expect(none.ending == .exited(4), "\(none.errorText)")
    #expect(try tools.sync(phone).ending == .exited(0))
  }

  @Test func `another process that has the store is waited for, and told with code 5`() async throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    #expect(try tools.sync(phone).ending == .exited(0))
    let store = try await Store.open(at: phone)
    let busy = try tools.sync("status", phone, "--wait", "0")
    #expect(busy.ending == .exited(5) && busy.errorText.contains("STORE_BUSY"), "\(busy.errorText)")
    detachThread {
      usleep(300_000)
      try? store.close()
    }
    #expect(try tools.sync("status", phone, "--wait", "3600").ending == .exited(0))
  }

  @Test func `plain commands do not write past client and server`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    #expect(try tools.sync(phone).ending == .exited(0))
    tools.stop()
    let server = tools.scratch.file("server")
    let row = tools.scratch.write(Array("{\"id\":\"b\"}\n".utf8), to: "rows")
    let (before, served) = (try tools.rows(of: phone), try tools.rows(of: server, "rows"))
    let writes = [
      (["put", phone, #"{"id":"b"}"#, "--table", "todos"], "strandline sync put"),
      (["load", phone, row, "--table", "todos"], "strandline sync put"),
      (["delete", phone, "--table", "todos", "--key", "a", "--yes"], "strandline sync delete"),
      (["reset", phone, "--yes"], "strandline sync reset"),
      (["put", server, #"{"table":"t","pk":"b"}"#, "--table", "rows"], "`strandline serve` alone"),
      (["reset", server, "--yes"], "`strandline serve` alone"),
    ]
    for (arguments, text) in writes {
      let run = try ToolRun(arguments)
      #expect(run.ending == .exited(2) && run.errorText.contains(text), "\(arguments): \(run.errorText)")
    }
    #expect(try tools.rows(of: phone) == before && tools.rows(of: server, "rows") == served)
    #expect(try ToolRun(["compact", phone]).ending == .exited(0))
    #expect(try tools.rows(of: phone) == before)
  }
}
