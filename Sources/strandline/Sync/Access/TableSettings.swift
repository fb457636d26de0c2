import StrandlineSync

/// What settings say of one table of a client.
enum TableSettings {
  /// - Throws: ``Failure`` of code ``ExitCode/usage`` with the place.
  static func configuration(_ settings: SettingsObject) throws(Failure) -> TableConfiguration {
    try settings.check(
      "owner", "bucket", "bucketValue", "key", "softDelete", "conflictMode", "pullOnly", "indexes")
    var table = TableConfiguration()
    switch (try settings.text("owner"), try settings.text("bucket")) {
    case (let owner?, nil): table.bucket = .byOwner(owner)
    case (nil, let column?): table.bucket = .byColumn(column)
    case (nil, nil): break
    case (_?, _?): throw settings.failure("owner", "excludes bucket: a table has one column that says whose rows are")
    }
    table.bucketValue = try settings.text("bucketValue")
    if let key = try settings.texts("key") { table.key = key }
    table.softDeleteColumn = try settings.text("softDelete")
    if let mode = try settings.choice("conflictMode", as: ConflictMode.self) { table.conflictMode = mode }
    if try settings.flag("pullOnly") ?? false { table.syncMode = .pullOnly }
    for text in try settings.texts("indexes") ?? [] {
      let columns = text.split(separator: ",").map(String.init)
      guard !columns.isEmpty else { throw settings.failure("indexes", "each is a list of columns, as in a,b") }
      table.indexes.append(IndexSchema(columns.joined(separator: "_"), columns))
    }
    return table
  }
}

/// `--table NAME[:SETTING=VALUE]…`: a table of a client, as a settings file has it.
struct TableOption: Equatable {
  static let option = CommandSpecification.Option(
    "--table", "NAME[:SETTING=VALUE]…", isRepeatable: true,
    summary: "A table, with its settings as in todos:owner=user_id:key=list,item:pullOnly.")

  var name: String
  /// As in a settings file.
  var settings: [String: Value] = [:]

  static func values(_ arguments: Arguments) throws(UsageError) -> [TableOption] {
    var options: [TableOption] = []
    for text in arguments.values("--table") {
      guard let option = TableOption(text), !options.contains(where: { $0.name == option.name }) else {
        throw .invalidValue(option: "--table", value: text, expected: "NAME or NAME:SETTING=VALUE:…, each name once")
      }
      options.append(option)
    }
    return options
  }

  /// Nil for a text without a name, and for settings that are given twice.
  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty else { return nil }
    self.name = String(name)
    for part in parts.dropFirst() {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard settings[words[0]] == nil else { return nil }
      settings[words[0]] = words.count == 1 ? .bool(true) : Self.value(words[1], of: words[0])
    }
  }

  private static func value(_ text: String, of setting: String) -> Value {
    switch setting {
    case "key": .array(text.split(separator: ",").map { .string(String($0)) })
    // An index is a list of columns itself; several are separated by a plus.
    case "indexes": .array(text.split(separator: "+").map { .string(String($0)) })
    case "pullOnly": .bool(text != "false")
    default: .string(text)
    }
  }

  func configuration() throws(Failure) -> TableConfiguration {
    do throws(Failure) {
      return try TableSettings.configuration(SettingsObject(.object(settings), path: ""))
    } catch {
      throw Failure(error.code, "--table \(name): \(error.message)")
    }
  }
}
