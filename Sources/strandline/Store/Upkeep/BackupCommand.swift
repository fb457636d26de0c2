import Strandline
import StrandlineLog

/// `strandline backup`: a complete copy, restored by opening it.
struct BackupCommand: Command {
  static let specification = CommandSpecification(
    name: "backup",
    summary: "Write a complete copy of a store to a new directory.",
    discussion: [
      "The copy is synced, has an incarnation of its own, and opens like any store. A log without tables is copied, too.",
      "Wants the store to itself: a process that has it open makes its copies by Store.backup(to:).",
    ],
    positionals: [
      StoreAccess.positional, .init(name: "DIR", summary: "Where the copy is to stand. Nothing may be there."),
    ],
    options: [.json])

  private let path: String
  private let target: String
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    target = arguments.positional(1)
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let report = try StoreAccess.write(path, console) { store in
      try store.backup(to: target)
    } ofLogAlone: { log in
      try log.backup(to: target)
    }
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("path", report.path)
        json.field("sequence", report.position.sequence.rawValue)
        json.field("position", PositionText.text(report.position))
        json.field("bytes", report.byteCount)
        json.field("segments", report.segmentCount)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      try console.print(
        "\(TerminalText.escaped(report.path)): up to commit \(report.position.sequence), \(HumanUnits.bytes(report.byteCount))"
      )
    }
    return .success
  }
}
