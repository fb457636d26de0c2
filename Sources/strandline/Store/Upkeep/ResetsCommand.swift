import Strandline
@_spi(Engine) import StrandlineLog

/// `strandline resets`: the epochs of a store, as far as its log and its kept copies tell of them.
struct ResetsCommand: Command {
  static let specification = CommandSpecification(
    name: "resets",
    summary: "List the resets that the log still shows, and the copies that were kept.",
    discussion: [
      "Reads the log beside a writer and takes no lock. A reset whose log was given back is listed if a copy was kept."
    ],
    positionals: [StoreAccess.positional], options: [.json])

  private struct Epoch {
    var number: UInt64
    var sequence: UInt64?
    var time: Int64?
    var cause: String?
    /// Of the epoch before, kept by the reset that began this one.
    var copies: [String] = []
  }

  private let path: String
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let inspector = try StoreInspector(path: path)
    guard inspector.target == .store else {
      throw LogError.unsupportedFormat(file: inspector.path, detail: .notAStore)
    }
    let (current, epochs, condition, worst) = try inspector.resuming { condition in
      if condition.survey.isEmpty { throw LogError.noStore(path: condition.survey.path) }
      let (current, epochs, worst) = try Self.epochs(inspector, condition)
      return (current, epochs, condition, worst)
    }
    console.note(condition)
    let code = ExitCode(condition.worst).worst(ExitCode(worst))
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("epoch", current)
        json.name("resets")
        json.array { json in for epoch in epochs { Self.write(epoch, to: &json) } }
      }
      json.endLine()
      try console.out.write(&json)
      return code
    }
    var table = TextTable(
      ("epoch", .right), ("commit", .right), ("time", .left), ("cause", .left), ("kept copy", .left))
    for epoch in epochs {
      table.add(
        "\(epoch.number)", epoch.sequence.map { "\($0)" } ?? "-",
        epoch.time.map { UTCTime.text(milliseconds: $0) } ?? "-", epoch.cause ?? "not in the log any more",
        epoch.copies.isEmpty ? "-" : TerminalText.escaped(epoch.copies.joined(separator: ", ")))
    }
    if table.isEmpty {
      try console.print("epoch \(current): no reset")
    } else {
      for line in table.lines() { try console.print(line) }
    }
    return code
  }

  private static func epochs(_ inspector: StoreInspector, _ condition: StoreCondition) throws -> (
    current: UInt64, epochs: [Epoch], worst: Finding.Severity?
  ) {
    let survey = condition.survey
    var epochs: [UInt64: Epoch] = [:]
    var walk = try StoreWalk(inspector, condition, includesAll: true)
    let current = walk.epoch
    // Headers name the reset in front of their segment, which may be gone itself.
    for header in survey.segments.compactMap(\.header) where header.epoch > 0 && header.reset.sequence > .zero {
      epochs[header.epoch] = Epoch(number: header.epoch, sequence: header.reset.sequence.rawValue)
    }
    while let element = try walk.next() {
      guard case .commit(let commit, _) = element, commit.state == .whole, case .reset(let reset) = commit.content
      else {
        continue
      }
      epochs[reset.epoch] = Epoch(
        number: reset.epoch, sequence: commit.sequence.rawValue, time: reset.time,
        cause: "\(Cause(rawValue: reset.cause))")
    }
    for name in survey.listing.inner where name.hasPrefix("kept-") {
      guard let root = try? StoreInspector(path: "\(survey.path)/\(name)").survey().root.root else { continue }
      epochs[root.epoch + 1, default: Epoch(number: root.epoch + 1)].copies.append(name)
    }
    return (current, epochs.values.sorted { $0.number < $1.number }, walk.worst)
  }

  private static func write(_ epoch: Epoch, to json: inout JSONWriter) {
    json.object { json in
      json.field("epoch", epoch.number)
      json.field("sequence", epoch.sequence)
      json.field("time", epoch.time.map { UTCTime.text(milliseconds: $0) })
      json.field("cause", epoch.cause)
      json.name("keptCopies")
      json.array { json in for copy in epoch.copies { json.value(copy) } }
    }
  }
}
