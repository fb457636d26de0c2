import Strandline
import StrandlineLog

/// `strandline delete`: one row less.
struct DeleteCommand: Command {
  static let specification = CommandSpecification(
    name: "delete",
    summary: "Delete one row.",
    discussion: ["Exit code 1: there is no such row, or the answer to the question was no."],
    positionals: [StoreAccess.positional],
    options: [
      StoreAccess.table, TableKey.option, Confirmation.option, MetadataOption.option,
      .init("--if-sequence", "N", summary: "Only if commit N wrote the row last."),
    ])

  private let path: String
  private let table: String
  private let key: TableKey
  private let isConfirmed: Bool
  private let metadata: [String: String]
  private let expected: SequenceNumber?

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    table = try arguments.required("--table", "T")
    key = try TableKey(arguments)
    isConfirmed = arguments.has("--yes")
    metadata = try MetadataOption.value(arguments)
    expected = try arguments.sequence("--if-sequence")
  }

  func run(_ console: Console) throws -> ExitCode {
    let values = try key.values(of: try StoreAccess.reading(path).view().schema(of: table))
    let name = "\(TerminalText.escaped(table)) \(ValueText.key(values))"
    try Confirmation.require(isConfirmed, "Delete \(name)?", console)
    let sequence = try StoreAccess.write(path, makes: false, console) { store in
      try StoreKeeper.refuse("delete", in: store)
      do {
        return try store.write(metadata: metadata) { (transaction: inout Transaction) throws(StoreError) in
          if let expected { try transaction.expect(table, key: values, sequence: expected) }
          return try transaction.delete(key: values, from: table) ? transaction.sequence : nil
        }
      } catch WriteError<StoreError>.body(let error) {
        throw error
      }
    }
    guard let sequence else {
      console.note("\(name): no such row")
      return .finding
    }
    try console.print("commit \(sequence): deleted \(name)")
    return .success
  }
}
