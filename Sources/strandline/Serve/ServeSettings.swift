import StrandlineServer

/// What a settings file says, checked.
struct ServeSettings {
  /// Where the public keys of tokens, or their secret, come from.
  enum KeySource: Equatable {
    case secretFile(String)
    case jwksFile(String)
    case jwksURL(String)
  }

  var store: String?
  var listen: String?
  var server: ServerConfiguration
  var keys: KeySource
  var rules: TokenRules
  /// PEM files.
  var certificateFile: String?
  var keyFile: String?
  /// Between two removals of what is older than its retention.
  var reapInterval: Duration
  private var http: HTTPServerConfiguration

  /// Reads a settings file; its name is in front of what is wrong with it.
  init(file path: String) throws(Failure) {
    let text = try SettingsFile.read(path)
    do throws(Failure) { try self.init(text) } catch { throw Failure(error.code, "\(path): \(error.message)") }
  }

  /// - Throws: ``Failure`` of code ``ExitCode/usage`` with the place in the file.
  init(_ text: [UInt8]) throws(Failure) {
    let file = try SettingsObject(json: text)
    try file.check("store", "listen", "tables", "tokens", "http", "limits", "server")
    store = try file.text("store")
    listen = try file.text("listen")
    server = ServerConfiguration(tables: try Self.tables(file))
    reapInterval = .seconds(3600)
    guard let address = SocketAddress("127.0.0.1:0") else { throw Failure(.usage, "no loopback address") }
    http = HTTPServerConfiguration(address: address)
    guard let tokens = try file.object("tokens") else { throw file.failure("tokens", "is missing") }
    (keys, rules) = try Self.tokens(tokens)
    if let settings = try file.object("server") { try readServer(settings) }
    if let settings = try file.object("http") { try readHTTP(settings) }
    if let settings = try file.object("limits") { try readLimits(settings) }
  }

  func http(at address: SocketAddress, identity: TLSIdentity?) -> HTTPServerConfiguration {
    var configuration = http
    configuration.address = address
    configuration.identity = identity
    return configuration
  }

  // MARK: Tables

  private static func tables(_ file: SettingsObject) throws(Failure) -> [String: ServerTable] {
    guard let settings = try file.object("tables"), !settings.names.isEmpty else {
      throw file.failure("tables", "at least one table is wanted")
    }
    var tables: [String: ServerTable] = [:]
    for name in settings.names {
      if let table = try settings.object(name) { tables[name] = try Self.table(table) }
    }
    return tables
  }

  private static func table(_ settings: SettingsObject) throws(Failure) -> ServerTable {
    try settings.check(
      "bucket", "key", "keyTypes", "conflictMode", "journal", "softDelete", "pullOnly", "columns", "deniedColumns",
      "roles", "open", "schemaVersionMin", "tombstoneDays", "forbidsRecovery")
    var table = ServerTable()
    table.bucketColumn = try settings.text("bucket")
    if let key = try settings.texts("key") { table.keyColumns = key }
    if let types = try settings.texts("keyTypes") { table.keyTypes = try keyTypes(types, settings) }
    if let mode = try settings.choice("conflictMode", as: ConflictMode.self) { table.conflictMode = mode }
    table.keepsJournal = try settings.flag("journal") ?? false
    table.softDeleteColumn = try settings.text("softDelete")
    table.isPullOnly = try settings.flag("pullOnly") ?? false
    if let columns = try settings.texts("columns") { table.columns = .only(Set(columns)) }
    table.deniedColumns = Set(try settings.texts("deniedColumns") ?? [])
    if let roles = try settings.object("roles") { table.privileges = try privileges(roles) }
    if try settings.flag("open") ?? false { table.policy = .open }
    table.schemaVersionMin = Int64(try settings.integer("schemaVersionMin", in: 0...Int.max) ?? 0)
    table.tombstoneRetention = try settings.days("tombstoneDays")
    table.forbidsRecovery = try settings.flag("forbidsRecovery") ?? false
    return table
  }

  private static func keyTypes(
    _ names: [String], _ settings: SettingsObject
  ) throws(Failure) -> [KeyComponentType] {
    var types: [KeyComponentType] = []
    for name in names {
      guard let type = KeyComponentType(rawValue: name) else {
        let known = KeyComponentType.allCases.map(\.rawValue).joined(separator: ", ")
        throw settings.failure("keyTypes", "each is one of \(known)")
      }
      types.append(type)
    }
    return types
  }

  private static func privileges(_ roles: SettingsObject) throws(Failure) -> [String: ColumnPrivileges] {
    var privileges: [String: ColumnPrivileges] = [:]
    for name in roles.names {
      guard let role = try roles.object(name) else { continue }
      try role.check("readable", "writable")
      privileges[name] = ColumnPrivileges(
        readable: try role.texts("readable").map { .only(Set($0)) } ?? .all,
        writable: try role.texts("writable").map { .only(Set($0)) } ?? .all)
    }
    return privileges
  }

  // MARK: Tokens

  private static func tokens(_ settings: SettingsObject) throws(Failure) -> (KeySource, TokenRules) {
    try settings.check("secretFile", "jwksFile", "jwksURL", "issuer", "audience", "leewaySeconds", "roleClaim")
    var sources: [KeySource] = []
    if let path = try settings.text("secretFile") { sources.append(.secretFile(path)) }
    if let path = try settings.text("jwksFile") { sources.append(.jwksFile(path)) }
    if let url = try settings.text("jwksURL") { sources.append(.jwksURL(url)) }
    guard sources.count == 1 else {
      throw Failure(.usage, "tokens: exactly one of secretFile, jwksFile and jwksURL is wanted")
    }
    var rules = TokenRules(issuer: try settings.text("issuer"), audience: try settings.text("audience"))
    if let seconds = try settings.integer("leewaySeconds", in: 0...3600) { rules.leeway = .seconds(seconds) }
    if let claim = try settings.text("roleClaim") { rules.roleClaim = claim }
    return (sources[0], rules)
  }

  // MARK: Server, HTTP, limits

  private mutating func readServer(_ settings: SettingsObject) throws(Failure) {
    try settings.check(
      "tombstoneDays", "verdictDays", "atomicPushesOnly", "registersClients", "allowedRoles", "forbidsRecovery",
      "reapSeconds")
    if let days = try settings.days("tombstoneDays") { server.tombstoneRetention = days }
    if let days = try settings.days("verdictDays") { server.verdictRetention = days }
    server.demandsAtomicPushes = try settings.flag("atomicPushesOnly") ?? false
    server.registersClients = try settings.flag("registersClients") ?? false
    server.allowedRoles = try settings.texts("allowedRoles").map { Set($0) }
    server.forbidsRecovery = try settings.flag("forbidsRecovery") ?? false
    if let interval = try settings.seconds("reapSeconds") { reapInterval = interval }
  }

  private mutating func readHTTP(_ settings: SettingsObject) throws(Failure) {
    try settings.check(
      "pathPrefix", "profiles", "profileHeader", "publishableKeys", "keyHeader", "binary", "threads",
      "certificateFile", "keyFile")
    if let prefix = try settings.text("pathPrefix") { http.pathPrefix = prefix }
    if let profiles = try settings.texts("profiles") { http.profiles = Set(profiles) }
    if let header = try settings.text("profileHeader") { http.profileHeader = header }
    if let keys = try settings.texts("publishableKeys") { http.publishableKeys = keys }
    if let header = try settings.text("keyHeader") { http.keyHeader = header }
    http.offersBinary = try settings.flag("binary") ?? true
    if let count = try settings.integer("threads", in: 1...64) { http.threadCount = count }
    certificateFile = try settings.text("certificateFile")
    keyFile = try settings.text("keyFile")
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw settings.failure("certificateFile", "belongs together with keyFile")
    }
  }

  private mutating func readLimits(_ settings: SettingsObject) throws(Failure) {
    try settings.check(
      "pageEntries", "pullScan", "bucketEntries", "mutations", "rowBytes", "connections", "connectionsPerAddress",
      "headerBytes", "bodyBytes", "bodyBytesOfAll", "answerBytes", "answerBytesPerUser", "answerBytesOfAll", "calls",
      "callsPerUser", "headerSeconds", "bodySeconds",
      "answerSeconds", "idleSeconds", "pollSeconds", "heartbeatSeconds", "stopSeconds")
    let counts = 1...Int(Int32.max)
    func set(_ target: inout Int, _ name: String) throws(Failure) {
      if let number = try settings.integer(name, in: counts) { target = number }
    }
    func set(_ target: inout Duration, _ name: String) throws(Failure) {
      if let time = try settings.seconds(name) { target = time }
    }
    try set(&server.limits.pageEntryCount, "pageEntries")
    try set(&server.limits.pullScanCountMax, "pullScan")
    try set(&server.limits.bucketEntryCountMax, "bucketEntries")
    try set(&server.limits.mutationCountMax, "mutations")
    try set(&server.limits.rowByteCountMax, "rowBytes")
    try set(&server.limits.answerByteCountMax, "answerBytes")
    try set(&http.limits.answerByteCountPerUserMax, "answerBytesPerUser")
    try set(&http.limits.answerByteCountOfAllMax, "answerBytesOfAll")
    try set(&http.limits.connectionCountMax, "connections")
    try set(&http.limits.connectionCountPerAddressMax, "connectionsPerAddress")
    try set(&http.limits.headerByteCountMax, "headerBytes")
    try set(&http.limits.bodyByteCountMax, "bodyBytes")
    try set(&http.limits.bodyByteCountOfAllMax, "bodyBytesOfAll")
    try set(&http.limits.callCountMax, "calls")
    try set(&http.limits.callCountPerUserMax, "callsPerUser")
    try set(&http.limits.headerDeadline, "headerSeconds")
    try set(&http.limits.bodyDeadline, "bodySeconds")
    try set(&http.limits.answerDeadline, "answerSeconds")
    try set(&http.limits.idleDeadline, "idleSeconds")
    try set(&http.limits.pollDeadline, "pollSeconds")
    try set(&http.limits.heartbeat, "heartbeatSeconds")
    try set(&http.limits.stopDeadline, "stopSeconds")
  }
}
