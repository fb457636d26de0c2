import StrandlineProtocol

@testable @_spi(Scenario) import StrandlineSync

/// A snapshot and a queue, put down in a line or two.
struct RecoveryRig {
  static let tables: [String: TableConfiguration] = [
    "todos": TableConfiguration(), "teams": TableConfiguration(bucket: .byColumn("team")),
    "pairs": TableConfiguration(key: ["a", "b"]), "read": TableConfiguration(syncMode: .pullOnly),
  ]

  var rows: [String: [String: Value]] = [:]
  var gone: Set<String> = []
  var queue: [OutboxEntry] = []
  var isTooLarge: @Sendable (RowImage) -> Bool = { _ in false }

  /// - Parameters:
  ///   - rows: of the snapshot, by `table/pk`.
  ///   - gone: tombstones of the snapshot.
  init(_ rows: [String: [String: Value]] = [:], gone: Set<String> = []) {
    self.rows = rows
    self.gone = gone
  }

  mutating func add(
    _ operation: MutationOperation, _ name: String, _ columns: [String: Value] = [:],
    transforms: [String: Value]? = nil, before: [String: Value]? = nil, batch: String? = nil,
    precondition: [String: Value]? = nil, hlc: String? = nil
  ) {
    let parts = name.split(separator: "/")
    queue.append(
      OutboxEntry(
        seq: Int64(queue.count + 1), mutationID: "m\(queue.count + 1)",
        name: RowName(table: String(parts[0]), pk: String(parts[1])), operation: operation, columns: columns,
        precondition: precondition, transforms: transforms, batchID: batch, preImage: before, hlc: hlc,
        createdAt: Int64(queue.count)))
  }

  func run() throws -> Recovery {
    let configuration = SyncConfiguration(
      tables: Self.tables, remote: ScriptedRemote(), localOnlyColumns: ["draft", "pin"])
    let (rows, gone, isTooLarge) = (rows, gone, isTooLarge)
    return try Recovery(
      queue,
      over: RecoveryBase(
        tables: ClientTables(configuration), buckets: ["teams": "red"],
        row: { name in
          let key = "\(name.table)/\(name.pk)"
          if let columns = rows[key] { return .live(RowImage(columns, seq: "7")) }
          return gone.contains(key) ? .buried : .absent
        }, fits: { _, image in !isTooLarge(image) }))
  }
}

extension Recovery {
  var decisions: [RecoveryDecision] { entries.map(\.decision) }

  /// A row of the new state.
  func columns(_ table: String, _ pk: String) -> [String: Value]? {
    rows[RowName(table: table, pk: pk)]?.image?.columns
  }

  func isShadowed(_ table: String, _ pk: String) -> Bool {
    rows[RowName(table: table, pk: pk)]?.isShadowed ?? false
  }
}
