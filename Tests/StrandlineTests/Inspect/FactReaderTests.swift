@_spi(Engine) import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineTestSupport
import Testing

struct FactReaderTests {
  private let directory = TemporaryDirectory()

  @Test func `records of a store are read by name, and bytes of another kind are not`() throws {
    let path = directory.path + "/store"
    let table = TableSchema(
      "notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("text", .string)],
      indexes: [IndexSchema("by_text", ["text"])])
    let store = try Store.open(at: path, schema: Schema(tables: [table]))
    try store.write(metadata: ["actor": "test"]) { (tx) throws(StoreError) in
      _ = try tx.put(["id": 7, "text": "seven"], into: "notes")
    }
    try store.close()

    let log = try Log.open(at: path)
    let commits = try log.read()
    var reader = FactReader()
    var records: [FactReader.Record] = []
    while let commit = try commits.next() {
      commit.forEachRecord { record in
        if let read = reader.read(record, of: commit.position.sequence) { records.append(read) }
      }
    }
    try log.close()
    var seen: [String] = []
    for case .fact(let fact) in records {
      switch fact.content {
      case .table(let declared, _, let isDropped):
        #expect(declared == table && !isDropped)
        seen.append("table")
      case .row(let name, let key, let row):
        #expect(name == "notes" && key == [7] && row?["text"] == "seven")
        seen.append("row")
      case .index(let name, let index, let key):
        #expect(name == "notes" && index == "by_text" && key == [7])
        seen.append("index")
      case .event, .other: seen.append("other")
      }
    }
    #expect(seen == ["table", "row", "index"])
    let headers = records.compactMap {
      if case .header(let cause, let metadata) = $0 { (cause, metadata) } else { nil }
    }
    #expect(headers.map(\.0) == [.schemaChanged, .transaction])
    #expect(headers.last?.1 == ["actor": "test"])
    for bytes in [[], [9], Array("a line of text".utf8), [1, 2], [0, 1]] as [[UInt8]] {
      #expect(bytes.span.bytes.withUnsafeBytes { reader.read($0, of: .zero) } == nil)
    }
  }
}
