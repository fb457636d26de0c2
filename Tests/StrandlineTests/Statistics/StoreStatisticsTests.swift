import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// What a store tells of itself: statistics, commits in order, tables.
struct StoreStatisticsTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  private static let schema = Schema(tables: [
    TableSchema(
      "notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("text", .string)],
      indexes: [IndexSchema("by_text", ["text"])])
  ])

  private func open(_ history: StoreOptions.History = .commits(.max)) throws -> Store {
    var options = StoreOptions()
    options.history = history
    return try Store.open(at: path, schema: Self.schema, options: options)
  }

  private func put(_ id: Int64, _ text: String, _ store: Store) throws {
    try store.write { (tx) throws(StoreError) in _ = try tx.put(["id": .int(id), "text": .string(text)], into: "notes")
    }
  }

  @Test func `live and dead versions are counted by family and table, in memory and on disk alike`() throws {
    let store = try open()
    for id in 1...10 { try put(Int64(id), "first", store) }
    for id in 1...4 { try put(Int64(id), "second", store) }
    try store.write { (tx) throws(StoreError) in _ = try tx.delete(10, from: "notes") }
    func check(_ place: String) throws {
      let statistics = try store.statistics(countsLive: true)
      let rows = try #require(statistics.contents.first { $0.family == "row" }, "\(place)")
      #expect(rows.table == "notes", "\(place)")
      #expect(rows.versionCount == 15, "\(place)")
      #expect(rows.deleteCount == 1, "\(place)")
      #expect(rows.live?.count == 9, "\(place)")
      #expect((rows.live?.byteCount ?? 0) < rows.byteCount, "\(place)")
      let entries = try #require(statistics.contents.first { $0.family == "index" }, "\(place)")
      #expect(entries.live?.count == 9, "\(place)")
      #expect(
        statistics.layers.reduce(0) { $0 + $1.versionCount } == statistics.contents.reduce(0) { $0 + $1.versionCount })
    }
    try check("in memory")
    try store.compact()
    try check("on disk")
    #expect(try store.statistics().contents.allSatisfy { $0.live == nil })
    try store.close()
    #expect(throws: StoreError.closed) { try store.statistics() }
  }

  @Test func `layers that only a view keeps are pinned until it goes`() throws {
    let store = try open(.none)
    for id in 1...100 { try put(Int64(id), "text", store) }
    try store.compact()
    var view: ReadView? = try store.view()
    try store.reset()
    #expect(try store.statistics().pinnedByteCount > 0)
    #expect(try view?.get(7, in: "notes")?["text"] == "text")
    view = nil
    #expect(try store.statistics().pinnedByteCount == 0)
    try store.close()
  }

  @Test func `commits are read in order, from the position of any of them, and by number`() throws {
    let store = try open()
    for id in 1...3 { try put(Int64(id), "text \(id)", store) }
    let reader = try store.commits()
    var commits: [StoreCommit] = []
    while let commit = try reader.next() { commits.append(commit) }
    #expect(commits.map(\.cause) == [.schemaChanged, .transaction, .transaction, .transaction])
    #expect(commits.flatMap(\.rows).map(\.key) == [[1], [2], [3]])
    #expect(try reader.next() == nil)
    try put(4, "late", store)
    #expect(try reader.next()?.rows.map(\.key) == [[4]])
    let rest = try store.commits(after: commits[1].position)
    #expect(try rest.next()?.rows.map(\.key) == [[2]])
    #expect(try store.position(of: commits[2].position.sequence) == commits[2].position)
    try store.close()
  }

  @Test func `a schema is adopted while the store is open, and told again as it was declared`() throws {
    let store = try open()
    let added = TableSchema("tags", key: [KeyColumn("name", .string)], allowsOtherColumns: true)
    try store.adopt(Schema(tables: [added]))
    #expect(try store.view().schema(of: "tags") == added)
    #expect(try store.view().schema(of: "notes") == Self.schema.tables[0])
    try store.write { (tx) throws(StoreError) in _ = try tx.put(["name": "x", "colour": "red"], into: "tags") }
    #expect(try store.view().schema(of: "tags").columns.map(\.name) == ["colour"])
    try store.close()
  }
}
