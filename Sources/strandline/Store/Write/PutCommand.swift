import Glibc
import Strandline
import StrandlineLog

/// `strandline put`: one row.
struct PutCommand: Command {
  static let specification = CommandSpecification(
    name: "put",
    summary: "Write one row.",
    discussion: [
      "ROW is a JSON object, or - for one on standard input. It replaces the row with its key, or with --update sets some",
      "cells of it, or with --insert must be new. A table whose key is one uuid or string column makes up a key for a row",
      "that lacks it. Makes store and table if there are none and --key says how.",
      "",
      "Exit code 1: the row is there (--insert), is not there (--update), or was written by another commit (--if-sequence).",
    ],
    positionals: [StoreAccess.positional, .init(name: "ROW", summary: "A JSON object, or - for standard input.")],
    options: [
      StoreAccess.table,
      .init("--insert", summary: "Refuse if there is such a row."),
      .init("--update", summary: "Set the cells that ROW names and leave the others; refuse if there is no such row."),
      .init("--if-sequence", "N", summary: "Only if commit N wrote the row last; 0: only if there is none."),
    ] + TableDeclaration.options + [MetadataOption.option, .json])

  private enum Form { case put, insert, update }

  private let path: String
  private let text: String
  private let table: String
  private let form: Form
  private let expected: SequenceNumber?
  private let declaration: TableDeclaration
  private let metadata: [String: String]
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    text = arguments.positional(1)
    table = try arguments.required("--table", "T")
    try arguments.requireAtMostOne(of: "--insert", "--update")
    form = arguments.has("--insert") ? .insert : arguments.has("--update") ? .update : .put
    expected = try arguments.sequence("--if-sequence")
    declaration = try TableDeclaration(arguments, table: table)
    metadata = try MetadataOption.value(arguments)
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let row = try RowLine.row(try text == "-" ? Self.standardInput() : text, "ROW")
    let (sequence, key) = try StoreAccess.write(path, makes: true, console) { store in
      try StoreKeeper.refuse("put", in: store)
      try declaration.ensure(table, in: store)
      let schema = try store.view().schema(of: table)
      do {
        return try store.write(metadata: metadata) { (transaction: inout Transaction) throws(StoreError) in
          (transaction.sequence, try write(RowLine.keyed(row, schema), schema, &transaction))
        }
      } catch WriteError<StoreError>.body(let error) {
        throw RowLine.placed(error, "ROW", "Nothing was written.")
      }
    }
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("sequence", sequence.rawValue)
        json.field("key", key: key)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      try console.print("commit \(sequence): \(TerminalText.escaped(table)) \(ValueText.key(key))")
    }
    return .success
  }

  private func write(_ row: Row, _ schema: TableSchema, _ transaction: inout Transaction) throws(StoreError) -> [Value]
  {
    if form == .update || expected != nil {
      var key: [Value] = []
      for column in schema.key {
        guard let value = row[column.name], !value.isNull else {
          throw .invalidKey(table: table, reason: "the row has no value for column \(column.name)")
        }
        key.append(value)
      }
      if let expected { try transaction.expect(table, key: key, sequence: expected) }
      if form == .update {
        try transaction.update(key: key, in: table, set: row)
        return key
      }
    }
    return form == .insert ? try transaction.insert(row, into: table) : try transaction.put(row, into: table)
  }

  private static func standardInput() throws(Failure) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(.ioFailure, "standard input: \(String(cString: strerror(errno)))") }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
      guard bytes.count <= CommitDraft.recordByteCountMax else { throw Failure(.usage, "ROW is larger than 16 MiB") }
    }
  }
}
