import Glibc
import StrandlineServer
import StrandlineSync
import StrandlineTestSupport
import Testing

@testable import strandline

/// `strandline serve`, from outside.
@Suite("serve") struct ServeTests {
  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  private var store: String { scratch.path + "/store" }

  /// Writes a file beside the store, and answers its path.
  private func file(_ name: String, _ text: String) -> String { scratch.write(Array(text.utf8), to: name) }

  private func settings(_ more: String = "") -> String {
    let secret = file("secret", ServedTool.secret + "\n")
    return file(
      "settings.json",
      #"{"tables":{"notes":{"bucket":"owner"}},"tokens":{"secretFile":"\#(secret)"}\#(more)}"#)
  }

  private let pull = PullRequest(
    clientID: "c", schemaVersion: 1, cursor: "0", limit: nil,
    buckets: [.init(table: "notes", params: ["owner": "ann"])])

  private func push(_ id: String) -> PushRequest {
    PushRequest(
      clientID: "c", schemaVersion: 1, lastMutationID: nil, isAtomic: false,
      mutations: [Mutation(id: id, table: "notes", pk: id, operation: "insert", columns: ["owner": "ann"])])
  }

  private func start(_ arguments: [String]) async throws -> ServedTool {
    try await onOwnThread { try ServedTool(arguments) }
  }

  private func end(_ tool: ServedTool, _ signal: Int32 = SIGTERM) async throws -> (
    ending: ChildProcess.Ending, errors: String
  ) {
    try await onOwnThread { tool.end(signal) }
  }

  @Test func `what was pushed is there after a stop, a kill, and until a new history begins`() async throws {
    let config = settings()
    let arguments = ["--config", config, "--store", store]
    var tool = try await start(arguments)
    var context = ServedTool.context
    #expect(try await tool.remote().push(push("a"), context).body.verdicts == [.applied("a")])
    let stopped = try await end(tool)
    #expect(stopped.ending == .exited(0))
    #expect(stopped.errors.contains("POST /rpc/push 200"))

    tool = try await start(arguments)
    #expect(try await tool.remote().push(push("b"), context).body.verdicts == [.applied("b")])
    #expect(try await end(tool, SIGKILL).ending == .killed(signal: SIGKILL))

    tool = try await start(arguments)
    let page = try await tool.remote().pull(pull, context)
    #expect(page.body.rows.map(\.pk) == ["a", "b"])
    context.history = page.notes.history
    #expect(try await tool.remote().pull(pull, context).body.signal == nil)
    #expect(try await end(tool, SIGINT).ending == .exited(0))

    tool = try await start(arguments + ["--new-history"])
    let lost = try await tool.remote().pull(pull, context)
    #expect(lost.body.signal == "RESET_REQUIRED" && lost.notes.resetCause == "history")
    #expect(try await end(tool).ending == .exited(0))
  }

  @Test func `its log is JSON where that is asked for, and says no secret`() async throws {
    let tool = try await start(["--config", settings(), "--store", store, "--json"])
    _ = try await tool.remote().pull(pull, ServedTool.context)
    let port = tool.port
    try await onOwnThread {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send("GET /?token=\(ServedTool.token)&apikey=key HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(socket.receiveMessage()?.status == 404)
    }
    let (ending, errors) = try await end(tool)
    #expect(ending == .exited(0))
    let lines = try errors.split(separator: "\n").map { try Value.json(String($0)) }
    #expect(lines.count == 2)
    guard case .object(let first)? = lines.first, case .object(let second)? = lines.last else { return }
    #expect(first["route"] == "/rpc/pull" && first["status"] == 200 && second["route"] == "other")
    #expect(!errors.contains(ServedTool.token) && !errors.contains("apikey") && !errors.contains(ServedTool.secret))
  }

  @Test func `clients that mean harm leave it serving`() async throws {
    let tool = try await start([
      "--config", settings(#","limits":{"headerSeconds":1,"bodyBytes":10000}"#), "--store", store, "--quiet",
    ])
    let port = tool.port
    let token = ServedTool.token
    let statuses = try await onOwnThread { () throws -> [Int?] in
      // Half requests that stay open, garbage, and a body that is too large, one beside the other.
      let halves = try (0..<50).map { _ in try LoopbackSocket.connect(port: port) }
      for half in halves { try half.send("POST /v1/push HTTP/1.1\r\nHost:") }
      let garbage = try LoopbackSocket.connect(port: port)
      try garbage.send([UInt8](repeating: 0xFF, count: 1000) + Array("\r\n\r\n".utf8))
      let large = try LoopbackSocket.connect(port: port)
      try large.send(
        "POST /v1/push HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Length: 10001\r\n\r\n"
          + String(repeating: " ", count: 10_001))
      let stranger = try LoopbackSocket.connect(port: port)
      try stranger.send("POST /v1/pull HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
      let answers = [large.receiveMessage()?.status, stranger.receiveMessage()?.status]
      _ = garbage.receiveToEnd()
      for half in halves { _ = half.receiveToEnd() }
      return answers
    }
    #expect(statuses == [413, 401])
    #expect(try await tool.remote().pull(pull, ServedTool.context).body.cursor == "0")
    let (ending, errors) = try await end(tool)
    #expect(ending == .exited(0) && errors.isEmpty)
  }

  @Test func `a store and an address in use are told with code 5`() async throws {
    let config = settings()
    let tool = try await start(["--config", config, "--store", store])
    let address = "127.0.0.1:\(tool.port)"
    let other = scratch.path + "/other"
    let (first, second) = try await onOwnThread { [store] in
      (
        try ToolRun(["serve", "--config", config, "--store", store, "--listen", "127.0.0.1:0"]),
        try ToolRun(["serve", "--config", config, "--store", other, "--listen", address])
      )
    }
    #expect(first.ending == .exited(5) && first.errorText.contains("in use by process"))
    #expect(second.ending == .exited(5) && second.errorText.contains("cannot listen on \(address)"))
    #expect(first.output.isEmpty && second.output.isEmpty)
    #expect(try await end(tool).ending == .exited(0))
  }

  @Test func `what cannot be is told in one line, with its code`() throws {
    let good = settings()
    let none = scratch.path + "/none"
    let open = { (name: String, text: String) in file("\(name).json", text) }
    let tables = #""tables":{"t":{}}"#
    let foreign = file("foreign", "no store")
    let cases: [([String], Int32, String)] = [
      ([], 2, "--config FILE is missing"), (["--postgres", "postgres://x"], 2, "--postgres is not in this build"),
      (["--config", good], 2, "no store"),
      (["--config", good, "--store", store, "--listen", "example.org:80"], 2, "HOST:PORT"),
      (["--config", none, "--store", store], 4, "No such file"),
      (["--config", open("x1", "{"), "--store", store], 2, "x1.json: byte"),
      (["--config", open("x2", "{}"), "--store", store], 2, "x2.json: tables: at least one table is wanted"),
      (["--config", open("x3", "{\(tables)}"), "--store", store], 2, "tokens: is missing"),
      (["--config", open("x4", "{\(tables),\"tokens\":{}}"), "--store", store], 2, "exactly one of secretFile"),
      (
        ["--config", open("x5", "{\(tables),\"tokens\":{\"secretFile\":\"\(none)\"}}"), "--store", store], 4,
        "No such file"
      ),
      (
        ["--config", open("x6", "{\(tables),\"tokens\":{\"secretFile\":\"\(foreign)\"}}"), "--store", store], 2,
        "needs 32 bytes"
      ),
      (
        ["--config", open("x7", "{\(tables),\"tokens\":{\"jwksFile\":\"\(foreign)\"}}"), "--store", store], 2,
        "no JSON Web Key Set"
      ),
      (
        ["--config", open("x8", "{\(tables),\"tokens\":{\"jwksURL\":\"http://example.org\"}}"), "--store", store], 2,
        "plain http"
      ),
      (
        ["--config", open("x9", "{\(tables),\"tokens\":{\"jwksURL\":\"http://127.0.0.1:1/\"}}"), "--store", store], 4,
        "127.0.0.1:1"
      ),
      (["--config", good, "--store", foreign], 3, "foreign"),
    ]
    for (arguments, code, text) in cases {
      let address = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
      let run = try ToolRun(["serve"] + address + arguments)
      #expect(run.ending == .exited(code), "\(arguments): \(run.errorText)")
      #expect(run.output.isEmpty && run.errorText.split(separator: "\n").count == 1)
      #expect(run.errorText.contains(text), "\(arguments): \(run.errorText)")
    }
  }
}

@Suite("Settings of serve") struct ServeSettingsTests {
  private static let rest = #""tables":{"t":{}},"tokens":{"secretFile":"s"}"#

  @Test func `everything can be set`() throws {
    let text = """
      {"store":"d","listen":"*:1","tables":{"t":{"bucket":"u","key":["a","b"],"keyTypes":["uuid","int"],"conflictMode":"hlc",
       "journal":true,"softDelete":"d","pullOnly":true,"columns":["a","b","u"],"deniedColumns":["x"],
       "roles":{"r":{"readable":["a"],"writable":[]}},"open":true,"schemaVersionMin":3,"tombstoneDays":1,"forbidsRecovery":true}},
       "tokens":{"jwksURL":"https://x","issuer":"i","audience":"a","leewaySeconds":5,"roleClaim":"r"},
       "server":{"tombstoneDays":2,"verdictDays":3,"atomicPushesOnly":true,"registersClients":true,"allowedRoles":["r"],
       "forbidsRecovery":true,"reapSeconds":0.5},
       "http":{"pathPrefix":"/p","profiles":["q"],"profileHeader":"P","publishableKeys":["k"],"keyHeader":"K","binary":false,
       "threads":4,"certificateFile":"c","keyFile":"k"},
       "limits":{"pageEntries":1,"pullScan":2,"bucketEntries":3,"mutations":4,"rowBytes":5,"connections":6,
       "connectionsPerAddress":7,"headerBytes":8000,"bodyBytes":9,"bodyBytesOfAll":10,"calls":11,"callsPerUser":12,
       "headerSeconds":1,"bodySeconds":2,"answerSeconds":3,"idleSeconds":4,"pollSeconds":5,"heartbeatSeconds":6,"stopSeconds":7}}
      """
    let settings = try ServeSettings(Array(text.utf8))
    let table = try #require(settings.server.tables["t"])
    #expect(table.bucketColumn == "u" && table.keyColumns == ["a", "b"] && table.keyTypes == [.uuid, .int])
    #expect(table.conflictMode == .hlc && table.keepsJournal && table.softDeleteColumn == "d" && table.isPullOnly)
    #expect(table.columns == .only(["a", "b", "u"]) && table.deniedColumns == ["x"] && table.schemaVersionMin == 3)
    #expect(table.privileges["r"] == ColumnPrivileges(readable: .only(["a"]), writable: .only([])))
    #expect(table.tombstoneRetention == .seconds(86_400) && table.forbidsRecovery)
    #expect(settings.store == "d" && settings.listen == "*:1" && settings.keys == .jwksURL("https://x"))
    #expect(settings.rules.issuer == "i" && settings.rules.audience == "a" && settings.rules.leeway == .seconds(5))
    #expect(settings.rules.roleClaim == "r" && settings.reapInterval == .milliseconds(500))
    #expect(settings.server.tombstoneRetention == .seconds(2 * 86_400) && settings.server.demandsAtomicPushes)
    #expect(
      settings.server.registersClients && settings.server.allowedRoles == ["r"] && settings.server.forbidsRecovery)
    #expect(settings.server.limits.pageEntryCount == 1 && settings.server.limits.rowByteCountMax == 5)
    #expect(settings.certificateFile == "c" && settings.keyFile == "k")
    let address = try #require(SocketAddress("127.0.0.1:1"))
    let http = settings.http(at: address, identity: nil)
    #expect(http.address == address && http.pathPrefix == "/p" && http.profiles == ["q"] && http.profileHeader == "P")
    #expect(http.publishableKeys == ["k"] && http.keyHeader == "K" && !http.offersBinary && http.threadCount == 4)
    var limits = HTTPLimits()
    limits.connectionCountMax = 6
    limits.connectionCountPerAddressMax = 7
    limits.headerByteCountMax = 8000
    limits.bodyByteCountMax = 9
    limits.bodyByteCountOfAllMax = 10
    limits.callCountMax = 11
    limits.callCountPerUserMax = 12
    limits.headerDeadline = .seconds(1)
    limits.bodyDeadline = .seconds(2)
    limits.answerDeadline = .seconds(3)
    limits.idleDeadline = .seconds(4)
    limits.pollDeadline = .seconds(5)
    limits.heartbeat = .seconds(6)
    limits.stopDeadline = .seconds(7)
    #expect(http.limits == limits)
  }

  @Test(arguments: [
    (#"{"table":{}}"#, "table: there is no such setting; did you mean tables?"),
    (#"{"tables":[]}"#, "tables: an object is wanted"),
    (#"{"tables":{"t":{"bucket":7}}}"#, "tables.t.bucket: a text is wanted"),
    (#"{"tables":{"t":{"bukket":"u"}}}"#, "tables.t.bukket: there is no such setting; did you mean bucket?"),
    (#"{"tables":{"t":{"key":"id"}}}"#, "tables.t.key: a list of texts is wanted"),
    (
      #"{"tables":{"t":{"keyTypes":["float"]}}}"#,
      "tables.t.keyTypes: each is one of uuid, text, varchar, smallint, int, bigint"
    ),
    (#"{"tables":{"t":{"conflictMode":"lww"}}}"#, "tables.t.conflictMode: one of arrival, hlc is wanted"),
    (#"{"tables":{"t":{"journal":"yes"}}}"#, "tables.t.journal: true or false is wanted"),
    (
      #"{"tables":{"t":{"schemaVersionMin":-1}}}"#,
      "tables.t.schemaVersionMin: a whole number from 0 to \(Int.max) is wanted"
    ),
    (#"{"tables":{"t":{"roles":{"r":{"read":[]}}}}}"#, "tables.t.roles.r.read: there is no such setting"),
    ("{\(rest),\"limits\":{\"connections\":0}}", "limits.connections: a whole number from 1 to 2147483647 is wanted"),
    ("{\(rest),\"limits\":{\"bodySeconds\":0}}", "limits.bodySeconds: seconds are wanted, from 0.001 to 86400"),
    ("{\(rest),\"http\":{\"certificateFile\":\"c\"}}", "http.certificateFile: belongs together with keyFile"),
    ("{\(rest),\"server\":{\"tombstoneDays\":1.5}}", "server.tombstoneDays: a whole number from 0 to 100000 is wanted"),
    ("[]", "an object is wanted"),
  ])
  func `a mistake is told with its place`(text: String, message: String) {
    let failure = #expect(throws: Failure.self) { try ServeSettings(Array(text.utf8)) }
    #expect(failure?.code == .usage)
    #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
  }
}
