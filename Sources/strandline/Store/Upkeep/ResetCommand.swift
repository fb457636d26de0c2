import Strandline
import StrandlineLog

/// `strandline reset`: an empty store, its tables' definitions aside, with one record.
struct ResetCommand: Command {
  static let specification = CommandSpecification(
    name: "reset",
    summary: "Empty a store with one record; its tables stay declared.",
    discussion: [
      "A log without tables is emptied as well. Costs one write and one sync, whatever the store holds, and works on a full disk. Files go away in the background.",
      "Exit code 1: the answer to the question was no.",
    ],
    positionals: [StoreAccess.positional],
    options: [
      .init("--keep-copy", summary: "First put a complete copy into a kept-… directory inside the store."),
      Confirmation.option, .json,
    ])

  private let path: String
  private let keepsCopy: Bool
  private let isConfirmed: Bool
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    keepsCopy = arguments.has("--keep-copy")
    isConfirmed = arguments.has("--yes")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    try Confirmation.require(isConfirmed, "Void everything in \(path)?", console)
    let report = try StoreAccess.write(path, console) { store in
      try StoreKeeper.refuse("reset", in: store)
      // Where nothing is, nothing says that it is to have tables: it stays a log that takes lines.
      if try store.statistics().versionCount == 0 {
        throw StoreError.unsupportedFormat(file: path, detail: .withoutTables)
      }
      return Report(try store.reset(keepCopy: keepsCopy))
    } ofLogAlone: { log in
      let started = ContinuousClock.now
      let done = try log.reset(cause: Cause.reset.rawValue, keepCopy: keepsCopy)
      return Report(done, time: ContinuousClock.now - started)
    }
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("epoch", report.epoch)
        json.field("sequence", report.position.sequence.rawValue)
        json.field("position", PositionText.text(report.position))
        json.field("keptCopy", report.keptCopy)
        json.field("voidedVersions", report.voidedVersionCount)
        json.field("voidedBytes", report.voidedByteCount)
        json.field("nanoseconds", report.nanoseconds)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      let time = HumanUnits.duration(nanoseconds: Double(report.nanoseconds))
      try console.print(
        "epoch \(report.epoch) begins with commit \(report.position.sequence): "
          + (report.voidedVersionCount.map { "\(HumanUnits.count($0)) versions, " } ?? "")
          + "\(HumanUnits.bytes(report.voidedByteCount)) void, \(time)"
      )
      if let copy = report.keptCopy { try console.print("copy kept in \(TerminalText.escaped(copy))") }
    }
    return .success
  }

  /// What a reset did, of a store with tables or of a log alone.
  private struct Report {
    var epoch: UInt64
    var position: Position
    var keptCopy: String?
    /// Nil: a log alone has none.
    var voidedVersionCount: UInt64?
    var voidedByteCount: UInt64
    var nanoseconds: UInt64

    init(_ report: StoreResetReport) {
      epoch = report.epoch
      position = report.position
      keptCopy = report.keptCopy
      voidedVersionCount = report.voidedVersionCount
      voidedByteCount = report.voidedByteCount
      nanoseconds = report.nanoseconds
    }

    init(_ report: ResetReport, time: Duration) {
      epoch = report.epoch
      position = report.position
      keptCopy = report.keptCopy
      voidedByteCount = report.voidedByteCount
      let (seconds, attoseconds) = time.components
      nanoseconds = UInt64(clamping: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
  }
}
