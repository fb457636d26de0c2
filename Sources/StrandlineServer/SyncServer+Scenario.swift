/// A state for a server to begin with, as a history left it that nobody made it go through.
@_spi(Scenario) public struct ServerStartState: Sendable {
  public struct Row: Sendable {
    public var table: String
    public var pk: String
    public var columns: [String: Value]
    public var number: Int64

    public init(table: String, pk: String, columns: [String: Value], number: Int64) {
      self.table = table
      self.pk = pk
      self.columns = columns
      self.number = number
    }
  }

  public var rows: [Row]
  public var tombstones: [ServerTombstone]
  /// Highest number drawn.
  public var highMark: Int64
  public var reapHorizon: Int64

  public init(rows: [Row] = [], tombstones: [ServerTombstone] = [], highMark: Int64 = 0, reapHorizon: Int64 = 0) {
    self.rows = rows
    self.tombstones = tombstones
    self.highMark = highMark
    self.reapHorizon = reapHorizon
  }
}

extension SyncServer {
  /// Puts a state into a storage that is empty, in one commit.
  @_spi(Scenario) public func seed(_ start: ServerStartState) async throws(ErrorAnswer) {
    var changes = ServerChanges(time: environment.now())
    for row in start.rows {
      guard let table = configuration.table(row.table) else {
        throw ErrorAnswer(code: .featureNotSupported, message: "there is no table \"\(row.table)\" here")
      }
      let stored = ServerRow(columns: row.columns, number: row.number, bucket: table.bucket(of: row.columns))
      changes.rows.append(ServerChanges.RowChange(id: RowID(table: row.table, pk: row.pk), before: nil, after: stored))
    }
    changes.tombstones = start.tombstones.map { ServerChanges.TombstoneChange(tombstone: $0, replaced: nil) }
    var counter = ServerCounter()
    counter.highMark = start.highMark
    counter.reapHorizon = start.reapHorizon
    if start.highMark > 0 { counter.tag = environment.randomBits() }
    changes.counter = counter
    let seeded = changes
    try await write { (state) throws(ServerStorageFailure) in (seeded, ()) }
    advance(to: start.highMark)
  }

  /// The pk of a row by its columns; nil if a key column has no text.
  @_spi(Scenario) public static func pk(of columns: [String: Value], keyColumns: [String]) -> String? {
    var components: [String] = []
    for column in keyColumns {
      guard let component = columns[column].flatMap({ RowKey.component($0) }) else { return nil }
      components.append(component)
    }
    return components.isEmpty ? nil : RowKey.text(of: components)
  }
}
