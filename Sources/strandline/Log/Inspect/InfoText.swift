@_spi(Engine) import StrandlineLog

/// What `log info` prints for people.
enum InfoText {
  static func lines(
    _ survey: StoreSurvey, _ tail: TailInspection?, _ opened: OpenedLayers, _ space: SpaceUse, _ damage: LogError?,
    _ console: Console
  ) -> [String] {
    var lines = [console.styled(.bold, TerminalText.escaped(survey.path))]
    if let damage {
      let keepsFromOpening = opened.refusal(survey) != nil || Self.keepsFromOpening(survey, tail)
      lines += Self.damage(damage, keepsFromOpening: keepsFromOpening, console)
    }
    lines += root(survey, console)
    lines += lock(survey.lock)
    lines += segments(survey, console)
    lines += layers(survey, opened)
    if let tail {
      let state = tail.evidence.state
      lines.append("last commit \(state.completeSequence), epoch \(state.epoch), at LSN \(tail.evidence.commitEnd)")
      if tail.verdict == .torn, !tail.isInFlight {
        let count = tail.evidence.contentEnd - tail.commitEndOffset
        lines.append(
          "torn tail    \(HumanUnits.number(count, of: "byte")) behind byte \(tail.commitEndOffset), never confirmed; the next writable "
            + "open cuts them (`strandline log tail` has the evidence)")
      }
    }
    lines += names(survey)
    lines += use(space)
    return lines
  }

  // MARK: - Damage

  /// Open reads nothing in front of the anchor.
  private static func keepsFromOpening(_ survey: StoreSurvey, _ tail: TailInspection?) -> Bool {
    guard survey.refusal == nil, let tail, tail.refusal == nil else { return true }
    return tail.evidence.verifiedEnd >= survey.root.root?.anchor.lsn ?? .zero
  }

  /// What is wrong, and what to do about it.
  private static func damage(_ error: LogError, keepsFromOpening: Bool, _ console: Console) -> [String] {
    let heading =
      console.styled(.red, "DAMAGED")
      + (keepsFromOpening ? ": open refuses the store" : " in front of the anchor, where open reads nothing")
    guard case .corrupt(let report) = error else {
      return [heading, "  \(TerminalText.escaped(error.description))", ""]
    }
    var found = report.found
    if report.isSingleBit == true { found += "; one flipped bit explains it" }
    if let count = report.laterFrameCount, count > 0 {
      found += "; \(HumanUnits.number(count, of: "later frame")) \(count == 1 ? "verifies" : "verify")"
    }
    return [
      heading,
      "  what       \(report.reason.words) (\(report.reason.rawValue))",
      "  where      \(TerminalText.escaped(report.file))" + (report.offset.map { ", byte \($0)" } ?? ""),
      "  expected   \(TerminalText.escaped(report.expected))",
      "  found      \(TerminalText.escaped(found))",
      "  next       nothing was changed; work on a copy: `strandline log verify` lists all damage,",
      "             `strandline log salvage STORE --to NEW` copies what verifies into a new store",
      "",
    ]
  }

  // MARK: - META

  private static func root(_ survey: StoreSurvey, _ console: Console) -> [String] {
    let root = survey.root
    guard root.byteCount != nil else { return survey.listing.hasRoot || survey.piece != nil ? [] : ["no META"] }
    var lines: [String] = []
    for slot in root.slots {
      guard let found = slot.root else {
        let why = slot.isZero ? "zeros" : slot.defect.map { "\($0)" } ?? "not there"
        let bit = slot.singleBit.map { "; one flipped bit explains it: byte \($0.byte), bit \($0.bit)" } ?? ""
        lines.append("META slot \(slot.number)  \(console.styled(.red, "damaged")): \(why)\(bit)")
        continue
      }
      let isInForce = found.revision == root.root?.revision
      lines.append("META slot \(slot.number)  revision \(found.revision)\(isInForce ? ", in force" : "")")
    }
    guard let found = root.root else { return lines }
    lines += [
      "store        \(found.identifier), incarnation \(hexadecimal(found.incarnation))",
      "epoch        \(found.epoch)" + (found.epoch > 0 ? ", begun by RESET \(found.resetSequence)" : ""),
      "segments     \(found.firstLiveOrdinal) to \(found.lastCreatedOrdinal)",
    ]
    if found.anchor.ordinal == 0 {
      lines.append("anchor       none: replay begins with the first segment")
    } else {
      let anchor = found.anchor
      lines.append("anchor       commit \(anchor.sequence), segment \(anchor.ordinal), LSN \(anchor.lsn)")
    }
    lines.append(
      "durable mark LSN \(found.durableMark)" + (found.closedCleanly ? ", closed cleanly" : ", not closed cleanly"))
    let bits = [found.compatibleBits, found.readOnlyCompatibleBits, found.incompatibleBits]
    if bits.contains(where: { $0 != 0 }) {
      lines.append("feature bits \(bits.map { hexadecimal($0) }.joined(separator: " ")) (compat, read-only, incompat)")
    }
    return lines
  }

  private static func lock(_ lock: LockState) -> [String] {
    switch lock {
    case .free: ["lock         free"]
    case .unknown: []
    case .held(nil): ["lock         held"]
    case .held(let owner?):
      [
        "lock         held by process \(owner.processID) on \(TerminalText.escaped(owner.host)) since "
          + UTCTime.text(seconds: owner.since)
      ]
    }
  }

  // MARK: - Files

  private static func segments(_ survey: StoreSurvey, _ console: Console) -> [String] {
    var table = TextTable(
      ("segment", .right), ("state", .left), ("bytes", .right), ("LSN", .right), ("behind commit", .right),
      ("epoch", .right), ("salt", .left), ("made", .left), ("header", .left))
    for segment in survey.segments {
      let whole = segment.copies.filter { $0.header != nil }.count
      guard let header = segment.header else {
        table.add(
          segment.name.map { "\($0.ordinal)" } ?? "?", segment.role.rawValue, "\(segment.byteCount)", "", "", "", "",
          "",
          "no copy whole")
        continue
      }
      table.add(
        "\(header.ordinal)", segment.role.rawValue, "\(segment.byteCount)", "\(header.baseLSN)",
        "\(header.baseSequence)",
        "\(header.epoch)", hexadecimal(header.salt), UTCTime.text(milliseconds: header.createdAt),
        segment.copies.isEmpty ? "given" : whole == 2 ? "whole" : "one copy whole")
    }
    return table.isEmpty ? [] : [""] + table.lines(indent: "  ") + [""]
  }

  private static func layers(_ survey: StoreSurvey, _ opened: OpenedLayers) -> [String] {
    guard !survey.layers.isEmpty else { return [] }
    var table = TextTable(
      ("layer", .left), ("level", .right), ("commits", .left), ("bytes", .right), ("blocks", .right),
      ("versions", .right), ("state", .left))
    for layer in survey.layers {
      let proof = opened[layer.path]
      let state =
        layer.entry == nil
        ? "not named by META"
        : !layer.isWhole ? "missing or other size" : proof?.refusal == nil ? "named by META" : "DAMAGED"
      table.add(
        layer.name.description, layer.entry.map { "\($0.level)" } ?? "",
        layer.entry.map { "\($0.firstSequence) to \($0.lastSequence)" } ?? "",
        layer.byteCount.map { "\($0)" } ?? "none",
        proof?.blockCount.map { "\($0)" } ?? "", proof?.versionCount.map { "\($0)" } ?? "", state)
    }
    return table.lines(indent: "  ") + [""]
  }

  private static func names(_ survey: StoreSurvey) -> [String] {
    func line(_ what: String, _ names: [String]) -> [String] {
      let shown = names.prefix(10).map { TerminalText.escaped($0) }.joined(separator: ", ")
      let rest = names.count > 10 ? ", and \(names.count - 10) more" : ""
      return names.isEmpty ? [] : ["\(what)\(shown)\(rest)"]
    }
    return line("unfinished   ", survey.listing.unfinished) + line("stores       ", survey.listing.inner)
      + line("not ours     ", survey.listing.unknown)
  }

  private static func use(_ space: SpaceUse) -> [String] {
    let parts: [(String, Int64)] = [
      ("replayed", space.replayed), ("history", space.history), ("dead", space.dead), ("space ahead", space.ahead),
      ("headers and META", space.administration), ("layers", space.layers), ("stray", space.stray),
    ]
    let text = parts.filter { $0.1 > 0 }.map { "\($0.0) \(HumanUnits.bytes($0.1))" }.joined(separator: ", ")
    return ["\(HumanUnits.bytes(space.total)) in all: \(text)"]
  }
}
