import Strandline
@_spi(Engine) import StrandlineLog

/// `strandline log salvage`: what verifies of a damaged store, copied to a new one.
struct LogSalvage: Command {
  static let specification = CommandSpecification(
    name: "salvage",
    summary: "Copy what verifies of a damaged store to a new store.",
    discussion: [
      "Every commit that verifies whole keeps its number; GAP frames stand for those that are lost. Layers that verify are",
      "copied; of a damaged one every block that verifies is kept. Where something is lost, indexes are made anew, and rows",
      "whose newest version is gone may be older than they were: the report says in which tables and between which keys.",
      "A table or column whose definition is lost, while rows or cells of it are kept, is called lost_table_N or lost_column_N,",
      "N being its number, which is never given to anything else; with --json \"lostDefinitions\" lists them.",
      "An interrupted salvage leaves a directory NEW.tmp-… with what it had written: no store; it can be removed.",
      "The store that is read is not changed. The new one has another incarnation and opens like any store.",
      "",
      "Exit code 0: nothing was lost. 1: something was; the report says what. 2: NEW exists or lies inside STORE, or nothing of",
      "epoch N is there. 3: nothing in it can be saved, or it is no store. 4: something could not be read or written, or there is no",
      "store. 5: a writer has the store open.",
    ],
    positionals: [.init(name: "STORE", summary: "Directory of the damaged store, or one of its segment files.")],
    options: [
      .init("--to", "NEW", summary: "Where the new store is to stand. Nothing may be there.", isRequired: true),
      .init("--epoch", "N", summary: "Save this epoch instead of the highest: brings back what a reset erased."),
      .json,
    ])

  private let path: String
  private let target: String
  private let epoch: UInt64?
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    target = arguments.value("--to") ?? ""
    guard !target.isEmpty else { throw .invalidValue(option: "--to", value: "", expected: "a path") }
    epoch = try arguments.unsigned("--epoch")
    printsJSON = arguments.has("--json")
  }

  private func salvage() throws -> StoreSalvageReport {
    do throws(StoreError) {
      return try StoreSalvage.run(from: path, to: target, epoch: epoch)
    } catch {
      switch error {
      case .invalidOption("target", _):
        throw Failure(
          .usage, "--to \(target) lies inside the store that is read. Name a place outside of it. Nothing was written.")
      case .outOfSpace(let failure):
        throw Failure(
          .ioFailure, "\(failure). Nothing of the new store was kept. Free some space, or name a place that has it.")
      case .corrupt(let report):
        // The advice of the error's own words would be to salvage.
        throw Failure(.corruption, "\(report). Nothing in it can be saved.")
      case .unsupportedFormat(let file, let detail) where detail.isForeign:
        throw Failure(.corruption, "\(file): \(detail). Nothing in it can be saved.")
      case .locked(let place, let owner):
        throw Failure(
          .inUse,
          "\(Failure.inUseBy(place, owner)). A store that opens needs no salvage; to salvage this one, stop it first.")
      case .noStore(let place):
        // There is a store, and not the epoch that was asked for.
        guard let epoch, try !StoreInspector(path: path).survey().isEmpty else { throw error }
        throw Failure(.usage, "nothing of epoch \(epoch) is in \(place)")
      default: throw error
      }
    }
  }

  func run(_ console: Console) throws -> ExitCode {
    let report = try salvage()
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
