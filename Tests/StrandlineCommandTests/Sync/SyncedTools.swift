import Glibc
import StrandlineSync
import StrandlineTestSupport
import Testing

@testable import strandline

/// A `strandline serve` and clients of it, every command a process of its own.
final class SyncedTools {
  let scratch: ScratchDirectory
  private let config: String
  private var server: ServedTool?
  /// Of the server that is there, or was.
  private(set) var url = ""

  /// - Parameter tables: of the server's settings.
  init(tables: String = #"{"todos":{"bucket":"owner"}}"#) throws {
    scratch = try ScratchDirectory()
    let secret = scratch.write(Array(ServedTool.secret.utf8), to: "secret")
    config = scratch.write(
      Array(#"{"tables":\#(tables),"tokens":{"secretFile":"\#(secret)"}}"#.utf8), to: "server.json")
    try serve()
  }

  deinit { stop() }

  func serve(_ more: String...) throws {
    let server = try ServedTool(["--config", config, "--store", scratch.file("server"), "--quiet"] + more)
    self.server = server
    url = server.url
  }

  func stop() {
    _ = server?.end()
    server = nil
  }

  /// A file with a token of a user, made by the tool.
  func tokenFile(of user: String) throws -> String {
    let run = try ToolRun(["token", user, "--config", config])
    #expect(run.ending == .exited(0), "\(run.errorText)")
    return scratch.write(run.output, to: "\(user).token")
  }

  /// Makes a client of the server that there is; answers the path of its store.
  ///
  /// - Parameter tables: as in its settings.
  func device(
    _ name: String, of user: String = "ann", tables: String = #"{"todos":{"owner":"owner"}}"#
  ) throws -> String {
    let path = scratch.file(name)
    mkdir(path, 0o700)
    try configure(path, of: user, tables: tables)
    return path
  }

  /// Writes the settings of a client anew.
  func configure(_ path: String, of user: String, tables: String = #"{"todos":{"owner":"owner"}}"#) throws {
    let token = try tokenFile(of: user)
    let name = path.split(separator: "/").last ?? ""
    scratch.write(
      Array(
        #"""
        {"remote":"\#(url)","tokenFile":"\#(token)","tables":\#(tables),
         "http":{"connectSeconds":900,"requestSeconds":900}}
        """#.utf8), to: "\(name)/\(SyncSettings.fileName)")
  }

  /// Waits until so many clients wait for the server's ring: what is written from then on rings them.
  func waitForListeners(_ count: Int) throws {
    let port = Int(url.split(separator: ":").last ?? "") ?? 0
    while true {
      let socket = try LoopbackSocket.connect(port: port)
      try socket.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
      let figures = socket.receiveMessage()?.text.split(separator: "\n") ?? []
      if figures.contains("strandline_http_waits \(count)") { return }
      usleep(20_000)
    }
  }

  /// Runs `strandline sync …`.
  func sync(_ words: String..., input: String = "") throws -> ToolRun {
    try ToolRun(["sync"] + words, input: Array(input.utf8))
  }

  /// Rows of a store as JSON.
  func rows(of path: String, _ table: String = "todos") throws -> [Substring] {
    try ToolRun(["query", path, "--table", table, "--jsonl"]).lines
  }
}

extension ToolRun {
  /// The members of the one JSON object that was printed.
  func object() throws -> [String: Value] {
    guard case .object(let members) = try Value.json(text) else { return [:] }
    return members
  }
}
