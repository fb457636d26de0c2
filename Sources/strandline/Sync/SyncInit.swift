import Glibc
import StrandlineSync

/// `strandline sync init`: a client's store with its settings.
struct SyncInit: Command {
  static let specification = CommandSpecification(
    name: "init",
    summary: "Make a client's store, and keep its settings in it.",
    discussion: [
      "Writes \(SyncSettings.fileName) in STORE, for the other `sync` commands; it can be edited. Makes no request.",
      "  strandline sync init ann --remote http://127.0.0.1:8080 --table todos:owner=user_id --token-file ann.token",
      "",
      "Settings of a table: owner=COLUMN or bucket=COLUMN says whose rows belong to this client, the user's or those with",
      "bucketValue=V; key=a,b, softDelete=COLUMN, conflictMode=hlc, pullOnly, indexes=a,b+c.",
    ],
    positionals: [SyncAccess.positional],
    options: SyncAccess.overrides + [
      AccessToken.option,
      .init("--publishable-key", "KEY", summary: "Names the app to the server, where it asks for it."),
    ])

  private let path: String
  private let url: String
  private let tables: [TableOption]
  private let tokenFile: String?
  private let publishableKey: String?
  private let schemaVersion: Int?

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    url = try arguments.required("--remote", "URL")
    tables = try TableOption.values(arguments)
    if tables.isEmpty { throw .missingOption("--table", valueName: "NAME") }
    tokenFile = arguments.value("--token-file")
    publishableKey = arguments.value("--publishable-key")
    schemaVersion = try arguments.integer("--schema-version", in: 1...Int.max)
  }

  func run(_ console: Console) throws -> ExitCode {
    let file = "\(path)/\(SyncSettings.fileName)"
    guard Glibc.access(file, F_OK) != 0 else {
      throw Failure(.usage, "\(file) is there already; edit it, or take another directory. Nothing was changed.")
    }
    let text = text()
    var settings = try SyncSettings(text)
    if let remote = settings.remote { _ = try HTTPRemote(remote) }
    // The token may come later.
    settings.tokenFile = nil
    let (store, opened) = (SyncAccess(path), settings)
    try AsyncWork.wait { try await store.withClient(opened, makes: true) { _ in } }
    try Self.write(text, to: file)
    try console.print("\(TerminalText.escaped(path)): a client of \(TerminalText.escaped(url))")
    return .success
  }

  /// The settings as a file.
  private func text() -> [UInt8] {
    var json = JSONWriter(.document)
    json.object { json in
      json.field("remote", url)
      if let tokenFile { json.field("tokenFile", Self.absolute(tokenFile)) }
      if let schemaVersion { json.field("schemaVersion", schemaVersion) }
      if let publishableKey { json.field("http", Value.object(["publishableKey": .string(publishableKey)])) }
      json.name("tables")
      json.object { json in for table in tables { json.field(table.name, Value.object(table.settings)) } }
    }
    json.endLine()
    return json.bytes
  }

  /// A path that means the same wherever a later command is started.
  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/") else { return path }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard getcwd(&buffer, buffer.count) != nil else { return path }
    let directory = buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return "\(directory)/\(path)"
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(path) }
      rest = rest.dropFirst(count)
    }
    guard fsync(descriptor) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> Failure {
    Failure(.ioFailure, "\(path): \(String(cString: strerror(errno)))")
  }
}
