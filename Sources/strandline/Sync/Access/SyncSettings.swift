import StrandlineSync

/// How a client is opened: what a settings file says, checked, and the options that go before it.
struct SyncSettings {
  /// Where the settings of a client are looked for, in the directory of its store.
  static let fileName = "sync.json"

  /// Nil: no server is named, and nothing but local commands can be done.
  var url: String?
  var tokenFile: String?
  var schemaVersion = 1
  var pageLimit: Int?
  var clientReset = ClientResetMode.Name.recover
  var localOnlyColumns: Set<String> = []
  var tables: [String: TableConfiguration] = [:]
  private var http = RemoteConfiguration(url: "", publishableKey: "strandline")

  init() {}

  /// Reads a settings file; its name is in front of what is wrong with it.
  init(file path: String) throws(Failure) {
    let text = try SettingsFile.read(path)
    do throws(Failure) { try self.init(text) } catch { throw Failure(error.code, "\(path): \(error.message)") }
  }

  /// - Throws: ``Failure`` of code ``ExitCode/usage`` with the place in the file.
  init(_ text: [UInt8]) throws(Failure) {
    let file = try SettingsObject(json: text)
    try file.check(
      "remote", "tokenFile", "schemaVersion", "pageLimit", "clientReset", "localOnlyColumns", "tables", "http")
    url = try file.text("remote")
    tokenFile = try file.text("tokenFile")
    schemaVersion = try file.integer("schemaVersion", in: 1...Int.max) ?? 1
    pageLimit = try file.integer("pageLimit", in: 1...Int(Int32.max))
    if let mode = try file.text("clientReset") { clientReset = try Self.mode(mode, "clientReset") }
    localOnlyColumns = Set(try file.texts("localOnlyColumns") ?? [])
    if let settings = try file.object("tables") {
      for name in settings.names {
        if let table = try settings.object(name) { tables[name] = try TableSettings.configuration(table) }
      }
    }
    if let settings = try file.object("http") { try readHTTP(settings) }
  }

  /// - Parameter place: where the text stands.
  static func mode(_ text: String, _ place: String) throws(Failure) -> ClientResetMode.Name {
    if let mode = ClientResetMode.Name(rawValue: text) { return mode }
    let known = ClientResetMode.Name.allCases.map(\.rawValue).joined(separator: ", ")
    throw Failure(.usage, "\(place): \"\(text)\" is no mode of client resets; there are \(known)")
  }

  private mutating func readHTTP(_ settings: SettingsObject) throws(Failure) {
    try settings.check(
      "publishableKey", "keyHeader", "profile", "profileHeader", "pathPrefix", "binary", "connectSeconds",
      "requestSeconds")
    if let key = try settings.text("publishableKey") { http.publishableKey = key }
    if let header = try settings.text("keyHeader") { http.keyHeader = header }
    if let profile = try settings.text("profile") { http.schema = profile }
    if let header = try settings.text("profileHeader") { http.profileHeader = header }
    // Empty is a prefix too: none.
    if settings.value("pathPrefix") == "" {
      http.pathPrefix = ""
    } else if let prefix = try settings.text("pathPrefix") {
      http.pathPrefix = prefix
    }
    http.offersBinary = try settings.flag("binary") ?? true
    if let time = try settings.seconds("connectSeconds") { http.deadlines.connect = time }
    if let time = try settings.seconds("requestSeconds") { http.deadlines.request = time }
  }

  /// The server; nil where none is named.
  var remote: RemoteConfiguration? {
    url.map { url in
      var remote = http
      remote.url = url
      return remote
    }
  }

  func configuration(of path: String, over remote: any Remote, token: String?, makes: Bool) -> SyncConfiguration {
    var configuration = SyncConfiguration(
      storePath: path, schemaVersion: schemaVersion, tables: tables, remote: remote, accessToken: token,
      localOnlyColumns: localOnlyColumns, pageLimit: pageLimit)
    configuration.clientReset = clientReset.mode
    // The round tells of its errors.
    configuration.log = { _ in }
    configuration.storeOptions.log.createsIfMissing = makes
    return configuration
  }
}

extension ClientResetMode.Name {
  /// The mode without callbacks.
  var mode: ClientResetMode {
    switch self {
    case .manual: .manual()
    case .discard: .discardUnsyncedChanges()
    case .recover: .recoverUnsyncedChanges()
    case .recoverOrDiscard: .recoverOrDiscardUnsyncedChanges()
    }
  }
}
