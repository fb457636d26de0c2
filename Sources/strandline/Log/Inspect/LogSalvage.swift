@_spi(Engine) import StrandlineLog

/// `strandline log salvage`: what verifies of a damaged store, copied to a new one.
struct LogSalvage: Command {
  static let specification = CommandSpecification(
    name: "salvage",
    summary: "Copy what verifies of a damaged store to a new store.",
    discussion: [
      "Every commit that verifies whole keeps its number; GAP frames stand for those that are lost. The store that is read",
      "is not changed. The new one has another incarnation and opens like any store.",
      "",
      "Exit code 0: nothing was lost. 1: something was; the report says what.",
    ],
    positionals: [.init(name: "STORE", summary: "Directory of the damaged store, or one of its segment files.")],
    options: [
      .init("--to", "NEW", summary: "Where the new store is to stand. Nothing may be there. Required."),
      .init("--epoch", "N", summary: "Save this epoch instead of the highest: brings back what a reset erased."),
      .json,
    ])

  private let path: String
  private let target: String
  private let epoch: UInt64?
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    guard let target = arguments.value("--to") else { throw .missingValue(option: "--to", valueName: "NEW") }
    self.target = target
    epoch = try arguments.unsigned("--epoch")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let report = try Salvage.run(from: path, to: target, epoch: epoch)
    if printsJSON {
      var json = JSONWriter(.document)
      SalvageText.write(report, to: &json)
      json.endLine()
      try console.out.write(&json)
    } else {
      for line in SalvageText.lines(report) { try console.print(line) }
    }
    return report.isComplete ? .success : .finding
  }
}
