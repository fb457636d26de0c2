import Glibc
import Strandline
import StrandlineLog
import StrandlineServer

/// `strandline serve`: the sync server over HTTP, its state in a store.
struct ServeCommand: Command {
  static let specification = CommandSpecification(
    name: "serve",
    summary: "Serve clients over HTTP: the sync server, its state in a store.",
    discussion: [
      "Says on standard output where it listens once it does, and then serves until SIGINT or SIGTERM: calls that",
      "are being served are answered, the store is closed, and it ends with 0. A second signal ends it at once.",
      "A line for each request goes to standard error; no token, key or secret stands in any.",
      "",
      "The settings are a JSON file; Docs/Serve.md has all of them. The least that works:",
      #"  {"tables":{"todos":{"bucket":"user_id"}},"tokens":{"secretFile":"secret.txt"}}"#,
    ],
    options: [
      .init("--config", "FILE", summary: "Settings: tables, tokens, limits. Needed."),
      .init("--store", "DIR", summary: "Directory of the state, made if there is none (default: the settings' store)."),
      .init(
        "--listen", "ADDR", summary: "HOST:PORT, numeric; port 0: any (default: the settings', else 127.0.0.1:8080)."),
      .init("--new-history", summary: "Begin a new history first: clients that know the old one are told to reset."),
      .init("--quiet", summary: "No lines for requests."),
      .init("--json", summary: "JSON objects, one a line, instead of text."),
      .init("--postgres", "URL", summary: "Not in this build: the state is in a store (--store)."),
    ])

  private let config: String
  private let store: String?
  private let listen: SocketAddress?
  private let beginsNewHistory: Bool
  private let isQuiet: Bool
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    guard !arguments.has("--postgres") else { throw .notInThisBuild(option: "--postgres", instead: "--store DIR") }
    guard let config = arguments.value("--config") else { throw .missingOption("--config", valueName: "FILE") }
    self.config = config
    store = arguments.value("--store")
    beginsNewHistory = arguments.has("--new-history")
    isJSON = arguments.has("--json")
    isQuiet = arguments.has("--quiet")
    listen = try arguments.value("--listen").map { (text) throws(UsageError) in
      guard let address = SocketAddress(text) else {
        throw .invalidValue(option: "--listen", value: text, expected: "HOST:PORT with a numeric host")
      }
      return address
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    let settings = try ServeSettings(file: config)
    guard let path = store ?? settings.store else {
      throw Failure(.usage, "no store: give --store, or \"store\" in \(config)")
    }
    let address = try address(settings)
    let http = settings.http(at: address, identity: try identity(settings))
    let opened = try open(path, console)
    // Opening may be interrupted anywhere; from here on there is something to finish.
    Interruption.beginGraceful()
    let log = try ServeLog(isJSON ? .json : .text, tellsRequests: !isQuiet)
    defer { log.close() }
    let beginsNewHistory = beginsNewHistory
    let running = try AsyncWork.wait {
      try await RunningServer(settings, http, opened, beginsNewHistory: beginsNewHistory, log)
    }
    do {
      try announce(running.address, isSecure: http.identity != nil, console)
      waitForSignal()
    } catch {
      // Nobody reads where it listens: that is no server anybody asked for.
      try? AsyncWork.wait { try await running.stop() }
      throw error
    }
    try AsyncWork.wait { try await running.stop() }
    return .success
  }

  private func address(_ settings: ServeSettings) throws(Failure) -> SocketAddress {
    if let listen { return listen }
    let text = settings.listen ?? "127.0.0.1:8080"
    guard let address = SocketAddress(text) else {
      throw Failure(.usage, "\(config): listen: HOST:PORT with a numeric host is wanted")
    }
    return address
  }

  private func identity(_ settings: ServeSettings) throws -> TLSIdentity? {
    guard let certificate = settings.certificateFile, let key = settings.keyFile else { return nil }
    return TLSIdentity(
      certificate: String(decoding: try SettingsFile.read(certificate), as: UTF8.self),
      key: String(decoding: try SettingsFile.read(key), as: UTF8.self))
  }

  private func open(_ path: String, _ console: Console) throws -> Store {
    let store = try Store.open(at: path, schema: EmbeddedServerStorage.schema)
    StoreAccess.noteOpening(store.openReport.log, console)
    return store
  }

  private func announce(_ address: SocketAddress, isSecure: Bool, _ console: Console) throws {
    let url = "\(isSecure ? "https" : "http")://\(address)"
    try console.print(isJSON ? LogLine([("event", "listening"), ("url", .string(url))]).json : "listening on \(url)")
    try console.out.flush()
  }

  private func waitForSignal() {
    while !Interruption.isRequested {
      var waiting = pollfd(fd: Interruption.wakeDescriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, -1)
    }
  }
}
