@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog

/// Prints the records of a store one after another; commits of facts as what they did.
struct EventPrinter {
  struct Options {
    var printsJSON: Bool
    var values: LogEvents.Values
    var from: SequenceNumber
    var to: SequenceNumber
    var includesAll: Bool
  }

  let options: Options
  let console: Console
  /// Commits in front of this were printed before files vanished and everything began anew.
  private var resumeAt = LSN.zero
  /// Learns tables and columns from the layers and from the commits on the way.
  private var facts = FactReader()
  /// What is wrong with the store was told.
  private var isAgain = false
  /// The epoch in which printing began: a reset in between voids what was printed.
  private var epoch: UInt64?

  init(options: Options, console: Console) {
    self.options = options
    self.console = console
  }

  mutating func print(_ inspector: StoreInspector, _ condition: StoreCondition) throws -> ExitCode {
    let survey = condition.survey
    if !isAgain { console.note(condition) }
    isAgain = true
    if let identifier = survey.root.root?.identifier {
      facts = FactReader(layers: survey.layers.compactMap(\.entry), of: identifier, inDirectory: survey.path)
    }
    var walk = try StoreWalk(inspector, condition, includesAll: options.includesAll)
    if resumeAt > .zero, let epoch, epoch != walk.epoch { throw LogError.generationGone }
    epoch = walk.epoch
    var file = survey.path
    while let element = try walk.next() {
      switch element {
      case .segment(let segment): file = segment.path
      case .commit(let commit, let liveness):
        guard commit.state == .whole else {
          console.settle(ExitCode(walk.worst))
          note(commit, liveness, file)
          continue
        }
        guard options.includesAll || liveness == .live, commit.lsn >= resumeAt, options.from <= options.to,
          commit.sequence <= options.to
        else { continue }
        // What lies in front of the first one asked for may define its tables.
        try print(commit, liveness, &walk, isWanted: commit.sequence >= options.from)
        resumeAt = commit.endLSN
      case .damage(let stretch, let liveness):
        console.settle(ExitCode(walk.worst))
        note("\(stretch.byteCount) bytes are no frame: \(stretch.reason)", at: stretch.offset, liveness, file)
      case .frame, .mark, .inFlight, .spaceAhead: continue
      }
    }
    return ExitCode(condition.worst).worst(ExitCode(walk.worst))
  }

  // MARK: - Damage

  private func note(_ commit: InspectedCommit, _ liveness: Liveness, _ file: String) {
    let what: String =
      switch commit.state {
      case .whole, .damaged: "is damaged"
      case .beginningMissing: "has no beginning"
      case .endMissing: "has no end"
      }
    note("commit \(commit.sequence) \(what)", at: commit.offset, liveness, file)
  }

  private func note(_ what: String, at offset: Int64, _ liveness: Liveness, _ file: String) {
    // A torn tail was told of at the beginning.
    if liveness != .torn { console.note("\(TerminalText.escaped(file)):\(offset): \(what)") }
  }

  // MARK: - Records

  /// The most bytes of a commit that are held to be read as facts; a larger one is printed record by record.
  private static let heldByteCountMax = 256 << 20

  private mutating func print(
    _ commit: InspectedCommit, _ liveness: Liveness, _ walk: inout StoreWalk, isWanted: Bool
  ) throws {
    if commit.recordCount > 0, commit.rawByteCount <= Self.heldByteCountMax {
      var records: [[UInt8]] = []
      try walk.readRecords(of: commit) { list in
        // The first record tells; those of other logs are not copied.
        for record in list where !records.isEmpty || record.first == 0 { records.append(Array(record)) }
      }
      if records.count == commit.recordCount, let known = CommitFacts(records, of: commit.sequence, reader: &facts) {
        if isWanted { try print(known, commit, liveness) }
        return
      }
    }
    guard isWanted else { return }
    var json = JSONWriter()
    var line: [UInt8] = []
    try walk.readRecords(of: commit) { list in
      for record in list {
        if options.printsJSON {
          write(record, commit, liveness, &json)
          try console.out.write(&json)
        } else {
          line.removeAll(keepingCapacity: true)
          write(record, commit, liveness, to: &line)
          try console.out.write(line)
        }
      }
    }
  }

  private func print(_ known: CommitFacts, _ commit: InspectedCommit, _ liveness: Liveness) throws {
    guard options.printsJSON else {
      var heading = CommitText.heading(
        sequence: commit.sequence.rawValue, time: commit.time, cause: "\(known.cause)", metadata: known.metadata)
      if options.includesAll { heading += "\t\(liveness.rawValue)" }
      try console.print(heading)
      if options.values != .none { for line in known.lines { try console.print(line) } }
      return
    }
    var json = JSONWriter()
    json.object { json in
      json.schemaField()
      json.field("sequence", commit.sequence.rawValue)
      json.field("lsn", commit.lsn.rawValue)
      if options.includesAll {
        json.field("epoch", commit.epoch)
        json.field("state", liveness.rawValue)
      }
      json.field("time", commit.time.map { UTCTime.text(milliseconds: $0) })
      known.write(to: &json, values: options.values)
    }
    json.endLine()
    try console.out.write(&json)
  }

  private func write(
    _ record: UnsafeRawBufferPointer, _ commit: InspectedCommit, _ liveness: Liveness, _ json: inout JSONWriter
  ) {
    json.object { json in
      json.schemaField()
      json.field("sequence", commit.sequence.rawValue)
      json.field("lsn", commit.lsn.rawValue)
      if options.includesAll {
        json.field("epoch", commit.epoch)
        json.field("state", liveness.rawValue)
      }
      switch options.values {
      case .none: json.field("byteCount", record.count)
      case .hex: json.field("valueHex", hex: record)
      case .utf8: json.field("value", utf8OrHex: record)
      }
    }
    json.endLine()
  }

  private func write(
    _ record: UnsafeRawBufferPointer, _ commit: InspectedCommit, _ liveness: Liveness, to line: inout [UInt8]
  ) {
    line += "\(commit.sequence)\t".utf8
    if options.includesAll { line += "\(liveness.rawValue)\t".utf8 }
    switch options.values {
    case .none: line += "\(record.count) bytes".utf8
    case .hex: Hexadecimal.append(record, to: &line)
    case .utf8: TerminalText.appendEscaped(record, to: &line)
    }
    line.append(UInt8(ascii: "\n"))
  }
}
