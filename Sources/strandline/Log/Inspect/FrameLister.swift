@_spi(Engine) import StrandlineLog

/// Prints the frames of a store one after another.
struct FrameLister {
  struct Options {
    var printsJSON: Bool
    var includesAll: Bool
    var from: LSN
    var to: LSN
  }

  let options: Options
  let console: Console
  /// Frames in front of this were printed before files vanished and everything began anew.
  private var resumeAt = LSN.zero

  init(options: Options, console: Console) {
    self.options = options
    self.console = console
  }

  /// What is wrong with the store was told.
  private var isAgain = false

  private static let widths = [14, 9, 8, 4, 9, 9, 10, 7, 14]

  mutating func list(_ inspector: StoreInspector, _ condition: StoreCondition) throws -> ExitCode {
    if !isAgain { console.note(condition) }
    isAgain = true
    var walk = try StoreWalk(inspector, condition, includesAll: options.includesAll, listsFrames: true)
    while let element = try walk.next() {
      switch element {
      case .segment(let segment): try begin(segment)
      case .frame(let frame, let liveness):
        guard frame.lsn >= max(options.from, resumeAt), frame.lsn < options.to else { continue }
        try print(frame, liveness)
        resumeAt = frame.endLSN
      case .damage(let stretch, let liveness):
        let end = stretch.lsn.rawValue &+ UInt64(clamping: stretch.byteCount)
        guard end > options.from.rawValue, stretch.lsn < options.to, stretch.lsn >= resumeAt else { continue }
        console.settle(ExitCode(walk.worst))
        try print(stretch, liveness)
      case .inFlight(let offset, let byteCount):
        try print(offset, byteCount)
      case .spaceAhead(let offset, let byteCount):
        if !options.printsJSON {
          try console.print("  \(HumanUnits.number(byteCount, of: "byte")) of space ahead from byte \(offset) on")
        }
      case .commit, .mark: continue
      }
    }
    return ExitCode(condition.worst).worst(ExitCode(walk.worst))
  }

  private func begin(_ segment: SegmentInspection) throws {
    guard !options.printsJSON else { return }
    try console.print(console.styled(.bold, TerminalText.escaped(segment.path)) + " (\(segment.role.rawValue))")
    let heads = ["LSN", "offset", "kind", "", "stored", "raw", "commit", "records", "durable"]
    try console.print(Self.line(heads) + "  verdict")
  }

  private static func line(_ cells: [String]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      TextTable.padded(cell.0, to: cell.1, index == 2 || index == 3 ? .left : .right)
    }.joined(separator: " ")
  }

  private func print(_ frame: InspectedFrame, _ liveness: Liveness) throws {
    let header = frame.header
    if options.printsJSON { return try printJSON(frame, liveness) }
    let cells = [
      "\(frame.lsn)", "\(frame.offset)", "\(header.kind)", header.codec == .lz4 ? "LZ4" : "raw",
      "\(header.storedByteCount)", "\(header.rawByteCount)", "\(header.sequence)\(header.continues ? "+" : " ")",
      "\(header.recordCount)", "\(header.durable)",
    ]
    var verdict = Self.verdict(frame).text
    if frame.isWhole, liveness != .live { verdict += ", \(liveness.rawValue)" }
    if !frame.isWhole { verdict = console.styled(.red, verdict) }
    try console.print(Self.line(cells) + "  " + verdict)
  }

  private static func verdict(_ frame: InspectedFrame) -> (code: String, text: String) {
    switch frame.body {
    case .damaged(let defect, let bit):
      let flipped = bit.map { "; one flipped bit explains it: payload byte \($0.byte), bit \($0.bit)" } ?? ""
      return ("bodyDamaged", "DAMAGED: \(defect)\(flipped)")
    case .cutShort(let missing): return ("cutShort", "DAMAGED: the last \(missing) bytes are missing")
    case .whole: break
    }
    if let reason = frame.chainBreak { return ("chainBroken", "DAMAGED: \(reason)") }
    return ("whole", frame.followsDamage ? "whole, behind damage" : "whole")
  }

  private func printJSON(_ frame: InspectedFrame, _ liveness: Liveness) throws {
    let header = frame.header
    let verdict = Self.verdict(frame)
    var json = JSONWriter()
    json.object { json in
      json.schemaField()
      json.field("type", "frame")
      json.field("lsn", frame.lsn.rawValue)
      json.field("offset", frame.offset)
      json.field("kind", "\(header.kind)")
      json.field("codec", header.codec == .lz4 ? "lz4" : "raw")
      json.field("storedByteCount", header.storedByteCount)
      json.field("rawByteCount", header.rawByteCount)
      json.field("sequence", header.sequence.rawValue)
      json.field("continues", header.continues)
      json.field("records", header.recordCount)
      json.field("epoch", frame.epoch)
      json.field("durable", header.durable.rawValue)
      json.field("tag", tag: frame.headTag)
      json.field("state", liveness.rawValue)
      json.field("verdict", verdict.code)
      json.field("detail", frame.isWhole ? nil : verdict.text)
    }
    json.endLine()
    try console.out.write(&json)
  }

  /// Bytes that a writer is at work on.
  private func print(_ offset: Int64, _ byteCount: Int64) throws {
    guard options.printsJSON else {
      let count = HumanUnits.number(byteCount, of: "byte")
      return try console.print("  \(count) in flight from byte \(offset) on: a writer has the store open")
    }
    var json = JSONWriter()
    json.object { json in
      json.schemaField()
      json.field("type", "inFlight")
      json.field("offset", offset)
      json.field("byteCount", byteCount)
    }
    json.endLine()
    try console.out.write(&json)
  }

  private func print(_ stretch: DamagedStretch, _ liveness: Liveness) throws {
    if options.printsJSON {
      var json = JSONWriter()
      json.object { json in
        json.schemaField()
        json.field("type", "damage")
        json.field("lsn", stretch.lsn.rawValue)
        json.field("offset", stretch.offset)
        json.field("byteCount", stretch.byteCount)
        json.field("zero", stretch.isZero)
        json.field("state", liveness.rawValue)
        json.field("detail", "\(stretch.reason)")
        json.field("flippedByte", stretch.singleBit?.byte)
        json.field("flippedBit", stretch.singleBit?.bit)
      }
      json.endLine()
      return try console.out.write(&json)
    }
    let cells = ["\(stretch.lsn)", "\(stretch.offset)"]
    let flipped = stretch.singleBit.map { "; one flipped bit explains it: byte \($0.byte), bit \($0.bit)" } ?? ""
    let what = "\(stretch.byteCount) bytes that are no frame: \(stretch.reason)\(flipped)"
    let style: TextStyle = liveness == .torn ? .yellow : .red
    try console.print(Self.line(cells) + "  " + console.styled(style, "\(liveness.rawValue): \(what)"))
  }
}
