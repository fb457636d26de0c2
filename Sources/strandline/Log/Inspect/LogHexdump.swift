@_spi(Engine) import StrandlineLog

/// `strandline log hexdump`: bytes at a position, with what they mean.
struct LogHexdump: Command {
  static let specification = CommandSpecification(
    name: "hexdump",
    summary: "Show the bytes at a position of the log and what they mean.",
    discussion: [
      "At the start of a frame its header is explained, field by field. Without --length the whole frame is shown, or 256 bytes",
      "where no frame begins. Offsets in front of the bytes count in the file, and are hexadecimal; a position is decimal, or 0x and",
      "hexadecimal digits.",
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
    let (condition, found) = try inspector.resuming { condition in
      (condition, try inspector.bytes(at: lsn, byteCount: length, in: condition.survey))
    }
    console.note(condition)
    let code = ExitCode(condition.worst)
    guard let found else {
      if condition.survey.isEmpty { return code.worst(.finding) }
      throw Failure(code.worst(.finding), "no segment holds LSN \(lsn)")
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
    return code
  }
}
