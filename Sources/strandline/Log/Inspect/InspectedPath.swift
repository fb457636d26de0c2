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
      if arguments.has("--lsn-base") { throw .incomplete("--lsn-base", needs: "--salt HEX") }
      piece = nil
      return
    }
    guard let salt = UInt64(text, radix: 16) else {
      throw .invalidValue(option: "--salt", value: text, expected: "a number of up to 16 hexadecimal digits")
    }
    guard let lsn = try arguments.position("--lsn-base") else {
      throw .incomplete("--salt", needs: "--lsn-base LSN")
    }
    piece = (salt, lsn)
  }

  /// - Throws: ``LogError``; ``Failure`` for options of a piece beside a whole store.
  func inspector() throws -> StoreInspector {
    let inspector = try StoreInspector(path: path, piece: piece)
    guard piece == nil || inspector.target != .store else {
      throw Failure(.usage, "--salt and --lsn-base are for a piece of a segment, and \(path) is a directory")
    }
    return inspector
  }
}

extension Arguments {
  /// A position in the log, decimal or hexadecimal as dumps show it, or nil if the option was not given.
  func position(_ option: String) throws(UsageError) -> LSN? {
    guard let text = value(option) else { return nil }
    let number = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    guard let number, number <= LSN.max.rawValue else {
      throw .invalidValue(
        option: option, value: text, expected: "a position, 0 to \(LSN.max), or 0x and hexadecimal digits")
    }
    return LSN(number)
  }

  /// The number of a commit, or nil if the option was not given.
  func sequence(_ option: String) throws(UsageError) -> SequenceNumber? {
    guard let text = value(option) else { return nil }
    guard let number = UInt64(text), number <= SequenceNumber.max.rawValue else {
      throw .invalidValue(option: option, value: text, expected: "the number of a commit, 0 to \(SequenceNumber.max)")
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
  /// Says what META, headers and the end of the log have that a healthy store does not have, for commands that go on all the same; or
  /// that there is no store.
  ///
  /// - Parameter tellsTail: whether that belongs to it; the command may show it in its own way.
  func note(_ condition: StoreCondition, tellsTail: Bool = true) {
    let shown = condition.findings.filter { finding in
      if finding.code == .tornTail || finding.code == .tailVerdict { return tellsTail && finding.severity >= .finding }
      return finding.severity >= .finding || finding.code == .noStore
    }
    for finding in shown { note(FindingText.line(finding, nil)) }
    settle(ExitCode(condition.worst))
    guard !condition.survey.isEmpty, (condition.worst ?? .note) >= .corruption else { return }
    note(
      "Nothing was changed. `strandline log verify STORE` lists all damage; "
        + "`strandline log salvage STORE --to NEW` copies what verifies.")
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
