internal import Strandline
internal import StrandlineProtocol

// What runs scenario files needs beyond what applications do.

extension SyncClient {
  /// A row by name, as scenario files have it.
  @_spi(Scenario) public struct ScenarioRow: Hashable, Sendable {
    public var table: String
    public var pk: String
    /// Exactly the columns that were written; the key is not filled in.
    public var columns: [String: Value]
    public var seq: String
  }

  @_spi(Scenario) public struct ScenarioShadow: Hashable, Sendable {
    public var table: String
    public var pk: String
    public var seq: String
    public var deletedAt: String?
  }

  @_spi(Scenario) public struct ScenarioName: Hashable, Sendable {
    public var table: String
    public var pk: String
  }

  /// As ``apply(_:to:pk:columns:mutationID:transforms:precondition:)``; writes with one batch id behind each other, each a commit of its
  /// own, are one atomic batch on the wire.
  ///
  /// - Parameter hlc: kept as it is on a table with stamps, left out on another.
  @_spi(Scenario) public func apply(
    _ operation: MutationOperation, to table: String, pk: String, columns: [String: Value] = [:],
    mutationID: String? = nil, transforms: [String: Value]? = nil, precondition: [String: Value]? = nil,
    batchID: String?, hlc: String?
  ) async throws {
    try await apply(
      LocalWrite(
        table: table, pk: pk, operation: operation, columns: columns, mutationID: mutationID, transforms: transforms,
        precondition: precondition, batchID: batchID, hlc: hlc))
  }

  /// Makes this the row as if it had come with a pull; raises `localChanged`.
  @_spi(Scenario) public func seedRow(
    _ columns: [String: Value], table: String, pk: String, seq: String
  ) async throws {
    _ = try tables.named(table)
    try await commit(.imported) { state in
      try state.put(RowImage(columns, seq: seq), at: RowName(table: table, pk: pk))
      state.raiseLocalChanged()
    }
  }

  /// Puts a shadow on a key as if it had come with a pull; raises `localChanged`.
  @_spi(Scenario) public func seedShadow(table: String, pk: String, seq: String) async throws {
    _ = try tables.named(table)
    try await commit(.imported) { state in
      try state.putTombstone(RowName(table: table, pk: pk), seq: seq)
      state.raiseLocalChanged()
    }
  }

  /// The stored column map of a live row; nil: there is none.
  @_spi(Scenario) public func storedColumns(table: String, pk: String) async throws -> [String: Value]? {
    try read { view in
      let table = try tables.named(table)
      return try view.get(key: [.string(pk)], in: table.name).map { RowImage($0, of: table).columns }
    }
  }

  /// All live rows of all tables, by table and key.
  @_spi(Scenario) public func liveRows() async throws -> [ScenarioRow] {
    try read { view in
      var all: [ScenarioRow] = []
      for table in tables.all {
        let pks = try view.query(table.name).select(HiddenColumn.pk).all()
        for case .string(let pk)? in pks.map({ $0[HiddenColumn.pk] }) {
          guard let row = try view.get(key: [.string(pk)], in: table.name) else { continue }
          let image = RowImage(row, of: table)
          all.append(ScenarioRow(table: table.name, pk: pk, columns: image.columns, seq: image.seq))
        }
      }
      return all
    }
  }

  /// All shadows, by table and key.
  @_spi(Scenario) public func shadows() async throws -> [ScenarioShadow] {
    try read { view in
      try view.query(StateTable.tombstones).all().map { row in
        let cells = StateCells(row, "a tombstone")
        return ScenarioShadow(
          table: try cells.text("table"), pk: try cells.text("pk"), seq: try cells.text("seq"),
          deletedAt: try cells.textIfPresent("deleted_at"))
      }
    }
  }

  /// Rows and tombstones that the staged pages name.
  @_spi(Scenario) public func stagedNames() async throws -> Set<ScenarioName> {
    try read { view in
      var names: Set<ScenarioName> = []
      for row in try view.query(StateTable.pages).all() {
        let page = try Staging.decode(row["body"] ?? .null)
        for entry in page.rows { names.insert(ScenarioName(table: entry.table, pk: entry.pk)) }
        for entry in page.tombstones { names.insert(ScenarioName(table: entry.table, pk: entry.pk)) }
      }
      return names
    }
  }

  /// Puts a row into a table of the client's own, past all rules: for faults that only a damaged store has.
  @_spi(Scenario) public func plant(_ row: Row, in table: String) async throws {
    try await commit(.imported) { state in try state.store.put(row, into: table) }
    queued.forget()
  }

  /// The rows of a table of the client's own.
  @_spi(Scenario) public func stateRows(of table: String) async throws -> [Row] {
    try read { try $0.query(table).all() }
  }
}

extension SyncClient {
  /// Calls `body` where events are delivered, behind every event raised so far.
  @_spi(Scenario) public func afterDelivery(_ body: @escaping @Sendable () -> Void) { delivery.call(body) }
}
