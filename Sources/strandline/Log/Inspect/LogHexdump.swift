@_spi(Engine) import StrandlineLog

/// `strandline log hexdump`: bytes at a position, with what they mean.
struct LogHexdump: Command {
  static let specification = CommandSpecification(
    name: "hexdump",
    summary: "Show the bytes at a position of the log and what they mean.",
    discussion: [
      "At the start of a frame its header is explained, field by field. Without --length the whole frame is shown, or 256 bytes",
      "where no frame begins.",
    ],
    positionals: [InspectedPath.positional],
    options: [
      .init("--lsn", "LSN", summary: "Position in the log.", isRequired: true),
      .init("--length", "N", summary: "Bytes to show, at most 16777216."),
    ] + InspectedPath.options)

  private let path: InspectedPath
  private let lsn: LSN
  private let length: Int?

  init(_ arguments: Arguments) throws(UsageError) {
    path = try InspectedPath(arguments)
    guard let lsn = try arguments.position("--lsn") else { throw .missingOption("--lsn", valueName: "LSN") }
    self.lsn = lsn
    length = try arguments.integer("--length", in: 1...16 << 20)
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try path.inspector()
    let (survey, found) = try inspector.resuming { survey in
      (survey, try inspector.bytes(at: lsn, byteCount: length, in: survey))
    }
    guard let found else {
      if console.noteIfEmpty(survey) { return .finding }
      throw Failure(.finding, "no segment holds LSN \(lsn)")
    }
    try console.print("\(TerminalText.escaped(found.segment.path)), byte \(found.offset), LSN \(found.lsn)")
    for line in HexdumpText.explanation(of: found) { try console.print(line) }
    var offset = found.offset
    var rest = found.bytes[...]
    while !rest.isEmpty {
      try console.print(Hexadecimal.line(at: offset, rest.prefix(16)))
      rest = rest.dropFirst(16)
      offset += 16
    }
    return .success
  }
}
