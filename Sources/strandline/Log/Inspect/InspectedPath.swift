@_spi(Engine) import StrandlineLog

/// The path a `log` command looks at, and what it needs to read a piece of a segment.
struct InspectedPath {
  static let positional = CommandSpecification.Positional(
    name: "STORE", summary: "Directory of the store, one of its segment files, or a piece of one.")
  /// Options that all commands take which look into one store.
  static let options: [CommandSpecification.Option] = [
    .init("--salt", "HEX", summary: "For a piece without its segment's header: the salt, as `log info` prints it."),
    .init("--lsn-base", "LSN", summary: "For such a piece: the position of its first byte."),
  ]

  private let path: String
  private let piece: (salt: UInt64, lsn: LSN)?

  init(_ arguments: Arguments, at index: Int = 0) throws(UsageError) {
    path = arguments.positional(index)
    guard let text = arguments.value("--salt") else {
      if arguments.has("--lsn-base") { throw .missingValue(option: "--salt", valueName: "HEX") }
      piece = nil
      return
    }
    guard let salt = UInt64(text, radix: 16) else {
      throw .invalidValue(option: "--salt", value: text, expected: "a number of up to 16 hexadecimal digits")
    }
    guard let lsn = try arguments.position("--lsn-base") else {
      throw .missingValue(option: "--lsn-base", valueName: "LSN")
    }
    piece = (salt, lsn)
  }

  func inspector() throws(LogError) -> StoreInspector { try StoreInspector(path: path, piece: piece) }
}

extension Arguments {
  /// A position in the log, or nil if the option was not given.
  func position(_ option: String) throws(UsageError) -> LSN? {
    guard let number = try unsigned(option) else { return nil }
    guard number <= LSN.max.rawValue else {
      throw .invalidValue(option: option, value: String(number), expected: "a position, at most \(LSN.max)")
    }
    return LSN(number)
  }

  /// The number of a commit, or nil if the option was not given.
  func sequence(_ option: String) throws(UsageError) -> SequenceNumber? {
    guard let number = try unsigned(option) else { return nil }
    guard number <= SequenceNumber.max.rawValue else {
      throw .invalidValue(option: option, value: String(number), expected: "the number of a commit")
    }
    return SequenceNumber(number)
  }
}

extension ExitCode {
  init(_ worst: Finding.Severity?) {
    switch worst {
    case nil, .note: self = .success
    case .finding: self = .finding
    case .corruption: self = .corruption
    case .ioFailure: self = .ioFailure
    }
  }
}

extension Console {
  /// Says that there is nothing to look at. True if so.
  func noteIfEmpty(_ survey: StoreSurvey) -> Bool {
    guard survey.isEmpty else { return false }
    note("\(TerminalText.escaped(survey.path)): no store here yet")
    return true
  }

  /// What is wrong with META and the chain, or with a single file's header, for commands that go on all the same. The exit code
  /// it calls for.
  func noteRefusal(_ survey: StoreSurvey) -> ExitCode {
    guard let error = survey.refusal else { return .success }
    note(TerminalText.escaped(error.description))
    return Failure.code(of: error)
  }
}

extension StoreSurvey {
  /// What is wrong with META and the chain, or with a single file's header.
  var refusal: LogError? {
    let isAlone = root.byteCount == nil
    return chainError ?? (isAlone ? segments.lazy.compactMap(\.error).first : nil)
  }
}

extension JSONWriter {
  /// Version of the documents and lines that the `log` commands print. Fields are added without a new number.
  static let schemaVersion = 1

  mutating func schemaField() { field("schema", Self.schemaVersion) }

  /// Sixteen hexadecimal digits: ids and tags do not fit the numbers of JSON readers.
  mutating func field(_ name: String, tag: UInt64) { field(name, hexadecimal(tag)) }
}
