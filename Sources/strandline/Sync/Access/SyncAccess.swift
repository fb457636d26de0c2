import Glibc
@_spi(Engine) import StrandlineSync

/// How the `sync` commands get at a client: its store, its settings, its token, and its turn.
struct SyncAccess {
  static let positional = CommandSpecification.Positional(
    name: "STORE", summary: "Directory of the client's store.")
  static let options: [CommandSpecification.Option] = [
    .init(
      "--config", "FILE",
      summary: "Settings of the client (default: \(SyncSettings.fileName) in STORE, if it is there)."),
    AccessToken.option,
    .init(
      "--wait", "SECONDS", summary: "How long to wait while another process has the store, 0 to 86400 (default 10)."),
  ]
  /// Of commands that may do without a settings file.
  static let overrides: [CommandSpecification.Option] = [
    .init("--remote", "URL", summary: "The server (default: the settings' remote)."),
    TableOption.option,
    .init("--schema-version", "N", summary: "Version of the app's schema, 1 or more (default: the settings', else 1)."),
    .init(
      "--client-reset", "MODE",
      summary: "Where the server lost the history: recover (default), discard, recover-or-discard or manual."),
  ]

  let path: String
  private let config: String?
  private let tokenFile: String?
  private let patience: Duration
  private let url: String?
  private let tables: [TableOption]
  private let schemaVersion: Int?
  private let clientReset: ClientResetMode.Name?

  /// - Parameter takesOverrides: of a command with ``overrides``; `--table` means something else to the others.
  init(_ arguments: Arguments, takesOverrides: Bool = false) throws(UsageError) {
    path = arguments.positional(0)
    config = arguments.value("--config")
    tokenFile = arguments.value("--token-file")
    patience = .seconds(try arguments.integer("--wait", in: 0...86_400) ?? 10)
    url = takesOverrides ? arguments.value("--remote") : nil
    tables = takesOverrides ? try TableOption.values(arguments) : []
    schemaVersion = takesOverrides ? try arguments.integer("--schema-version", in: 1...Int.max) : nil
    clientReset = takesOverrides ? try arguments.choice("--client-reset") : nil
  }

  /// A store whose settings are at hand.
  init(_ path: String) {
    self.path = path
    (config, tokenFile, url, schemaVersion, clientReset) = (nil, nil, nil, nil, nil)
    (patience, tables) = (.seconds(10), [])
  }

  var settingsPath: String { "\(path)/\(SyncSettings.fileName)" }

  /// What the file says, and the options in its place.
  func settings() throws(Failure) -> SyncSettings {
    var settings = try fromFile()
    if let url { settings.url = url }
    if let tokenFile { settings.tokenFile = tokenFile }
    if let schemaVersion { settings.schemaVersion = schemaVersion }
    if let clientReset { settings.clientReset = clientReset }
    if !tables.isEmpty { settings.tables = [:] }
    for table in tables { settings.tables[table.name] = try table.configuration() }
    guard !settings.tables.isEmpty else {
      throw Failure(
        .usage,
        "no tables: there is no \(config ?? settingsPath) that names any. `strandline sync init` makes one")
    }
    return settings
  }

  private func fromFile() throws(Failure) -> SyncSettings {
    if let config { return try SyncSettings(file: config) }
    return access(settingsPath, F_OK) == 0 ? try SyncSettings(file: settingsPath) : SyncSettings()
  }

  /// Opens the client for `body`, and closes it in any case. Waits for its turn where another process has the store.
  ///
  /// - Parameters:
  ///   - remote: nil: the client makes no request.
  ///   - makes: whether the store is made where there is none.
  ///   - performsAction: whether a reset action that an earlier command recorded is performed. What only looks leaves it; what performs it
  ///     has to tell ``SyncClient/resetAtOpen``.
  func withClient<Result: Sendable>(
    _ settings: SyncSettings, over remote: (any Remote)? = nil, makes: Bool, performsAction: Bool = false,
    _ body: (SyncClient) async throws -> Result
  ) async throws -> Result {
    let client = try await open(settings, remote ?? NoRemote(), makes: makes, performsAction: performsAction)
    let result: Result
    do {
      result = try await body(client)
    } catch {
      await client.dispose()
      throw error
    }
    try await client.close()
    return result
  }

  private func open(
    _ settings: SyncSettings, _ remote: any Remote, makes: Bool, performsAction: Bool
  ) async throws -> SyncClient {
    if makes { try StoreAccess.refuseForeignFiles(path, except: [SyncSettings.fileName]) }
    let token = try AccessToken(file: settings.tokenFile).read()
    var configuration = settings.configuration(of: path, over: remote, token: token, makes: makes)
    configuration.performsResetActions = performsAction
    let deadline = ContinuousClock.now + patience
    while true {
      do {
        return try await SyncClient.open(configuration)
      } catch let error as SyncError where error.catalogueCode == .storeBusy && ContinuousClock.now < deadline {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}

/// The server of a client that is only looked at or written to.
private struct NoRemote: Remote {
  private static let failure = RemoteFailure(.unreachable(reason: "this command makes no request", underlying: nil))

  func pull(
    _ request: PullRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> { throw Self.failure }

  func push(
    _ request: PushRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> { throw Self.failure }
}
