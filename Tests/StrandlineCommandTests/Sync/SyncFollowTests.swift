import Glibc
import StrandlineSync
import StrandlineTestSupport
import Testing

@testable import strandline

/// `strandline sync --follow`.
@Suite("sync --follow") struct SyncFollowTests {
  /// A follower at work, its lines read one by one.
  private final class Follower {
    private let child: ChildProcess

    init(_ store: String, _ more: String...) throws {
      child = try ChildProcess(
        ToolRun.path, ["sync", store, "--follow", "--jsonl"] + more, output: .pipe, errors: .pipe)
    }

    /// The next line that `isWanted`; nil: it ended without one.
    func line(where isWanted: ([String: Value]) -> Bool) -> [String: Value]? {
      while let text = line() {
        if case .object(let members)? = try? Value.json(text), isWanted(members) { return members }
      }
      return nil
    }

    private func line() -> String? {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while read(child.output, &byte, 1) == 1 {
        if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
      return nil
    }

    func end(_ signal: Int32? = nil) -> ChildProcess.Ending {
      if let signal { child.send(signal: signal) }
      while line() != nil {}
      return child.wait()
    }
  }

  @Test func `writes of other commands go out, and news come in by the server's ring`() throws {
    let tools = try SyncedTools()
    let (phone, laptop) = (try tools.device("phone"), try tools.device("laptop"))
    // No timer: what comes, comes because somebody wrote, here or there.
    let phoneFollower = try Follower(phone, "--interval", "0")
    let laptopFollower = try Follower(laptop, "--interval", "0")
    try tools.waitForListeners(2)
    for number in 1...3 {
      let row = #"{"id":"r\#(number)"}"#
      let put = try tools.sync("put", phone, row, "--table", "todos", "--wait", "3600")
      #expect(put.ending == .exited(0), "\(put.errorText)")
      #expect(phoneFollower.line { $0["pushed"] == 1 } != nil)
      #expect(laptopFollower.line { $0["pulledRows"] == 1 } != nil)
    }
    #expect(phoneFollower.end(SIGTERM) == .exited(130))
    #expect(laptopFollower.end(SIGINT) == .exited(130))
    #expect(try tools.rows(of: laptop).count == 3)
    #expect(try tools.rows(of: laptop) == tools.rows(of: phone))
  }

  @Test func `a server that is gone is told, and found again`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    let follower = try Follower(phone, "--interval", "1")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos", "--wait", "3600")
    #expect(follower.line { $0["pushed"] == 1 } != nil)
    let address = tools.url.replacing("http://", with: "")
    tools.stop()
    let failed = follower.line { $0["event"] == "health" && $0["phase"] == "backoff" }
    #expect(failed?["code"] == "REMOTE")
    try tools.serve("--listen", address)
    #expect(follower.line { $0["event"] == "health" && $0["failures"] == 0 } != nil)
    #expect(follower.end(SIGTERM) == .exited(130))
  }

  @Test func `a manual reset that the server asks for ends it with code 1`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone")
    _ = try tools.sync("put", phone, #"{"id":"a"}"#, "--table", "todos")
    #expect(try tools.sync(phone).ending == .exited(0))
    tools.stop()
    try tools.serve("--new-history")
    try tools.configure(phone, of: "ann")
    let follower = try Follower(phone, "--client-reset", "manual")
    #expect(follower.line { $0["blocked"] == "reset_required" } != nil)
    #expect(follower.end() == .exited(1))
  }

  /// Answers a first pull, and from then on is of another history and does not answer a fresh copy.
  private struct LostServer: Remote {
    /// The client's identity at first.
    let first: String

    func pull(
      _ request: PullRequest, _ context: RemoteContext
    ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
      let history = context.history == nil ? "a" : "b"
      // A fresh copy is pulled under an identity of its own.
      guard request.clientID == first else {
        throw RemoteFailure(.unreachable(reason: "gone", underlying: nil))
      }
      return RemoteAnswer(
        body: PullAnswer(cursor: "1"),
        notes: AnswerNotes(history: "\(String(repeating: history, count: 32));1;0000000000000000"))
    }

    func push(
      _ request: PushRequest, _ context: RemoteContext
    ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
      throw RemoteFailure(.unreachable(reason: "gone", underlying: nil))
    }
  }

  @Test func `a reset that the network stopped does not end it: the next round goes on`() async throws {
    let scratch = try ScratchDirectory()
    let path = scratch.file("phone")
    mkdir(path, 0o700)
    let settings = try SyncSettings(Array(#"{"tables":{"todos":{}}}"#.utf8))
    let access = SyncAccess(path)
    let id = try await access.withClient(settings, makes: true) { try await $0.inspect().clientID }
    let client = FollowedClient(access, settings, SyncRound.Plan(), over: LostServer(first: try #require(id)))
    try await client.sync()
    #expect(client.block == nil)
    await #expect(throws: SyncError.self) { try await client.sync() }
    let rounds = client.takeRounds()
    #expect(rounds.last?.stop?.reason == .resetRequired && rounds.last?.stop?.pending?.next == .sync)
    #expect(client.block == nil)
  }

  @Test func `a write that is refused for good is given up though the store was closed in between`() throws {
    let tools = try SyncedTools()
    let phone = try tools.device("phone", tables: #"{"todos":{"owner":"owner"},"extras":{}}"#)
    _ = try tools.sync("put", phone, #"{"id":"x"}"#, "--table", "extras")
    let follower = try Follower(phone, "--interval", "0")
    #expect(follower.line { $0["event"] == "round" } != nil)
    // Each write is a reason for another round, in which the first write is refused once more.
    for number in 2...5 {
      let put = try tools.sync("put", phone, #"{"id":"r\#(number)"}"#, "--table", "todos", "--wait", "3600")
      #expect(put.ending == .exited(0), "\(put.errorText)")
      if number < 5 { #expect(follower.line { $0["event"] == "round" } != nil) }
    }
    let round = follower.line { round in
      guard case .array(let events)? = round["events"] else { return false }
      return events.contains { if case .object(let event) = $0 { event["event"] == "DEAD_LETTER" } else { false } }
    }
    #expect(round?["error"] == .null)
    #expect(follower.end(SIGTERM) == .exited(130))
    #expect(try tools.rows(of: phone, "extras").isEmpty && tools.rows(of: phone).count == 4)
  }
}
