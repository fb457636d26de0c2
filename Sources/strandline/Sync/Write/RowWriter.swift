import StrandlineSync

/// Rows as writes of a client.
struct RowWriter: Sendable {
  enum Form { case put, insert, update }

  /// A write that is queued.
  struct Written: Sendable {
    var operation: MutationOperation
    var pk: String
  }

  typealias Rows = [(place: String, row: Row)]

  var table: String
  /// The key's columns.
  var key: [String]
  var form: Form
  var transforms: [String: Value]
  var precondition: [String: Value]

  /// Each row as a commit of its own, in their order.
  ///
  /// - Returns: what is queued, and what ended it, if anything did.
  func write(_ rows: Rows, to client: SyncClient) async throws -> (written: [Written], failure: Failure?) {
    var written: [Written] = []
    for (place, row) in rows {
      do {
        let columns = row.byColumn
        let pk = pk(of: columns)
        let isThere = pk == nil ? false : try await Self.isThere(key.map { ($0, columns[$0]) }, client, table)
        let operation = try operation(pk, isThere: isThere)
        let name = pk ?? RandomIDs().uuid()
        try await client.apply(
          operation, to: table, pk: name, columns: operation == .insert ? columns : withoutKey(columns),
          transforms: transforms.isEmpty ? nil : transforms, precondition: precondition.isEmpty ? nil : precondition)
        written.append(Written(operation: operation, pk: name))
      } catch {
        return (written, Self.failure(error, place, written.count))
      }
    }
    return (written, nil)
  }

  /// All rows as one commit, which is one atomic batch.
  func writeAtOnce(_ rows: Rows, to client: SyncClient) async throws -> (written: [Written], failure: Failure?) {
    var place = ""
    do {
      let transforms = try checkedTransforms()
      return try await client.write { transaction in
        var written: [Written] = []
        for row in rows {
          place = row.place
          let columns = row.row.byColumn
          let pk = pk(of: columns)
          let isThere = try pk.map { try transaction.row($0, in: table) != nil } ?? false
          let operation = try operation(pk, isThere: isThere)
          if let pk, operation == .update {
            try transaction.update(
              pk, in: table, set: withoutKey(columns), transforms: transforms,
              precondition: precondition.isEmpty ? nil : precondition)
            written.append(Written(operation: operation, pk: pk))
          } else {
            written.append(Written(operation: operation, pk: try transaction.insert(columns, into: table)))
          }
        }
        return (written, nil)
      }
    } catch {
      return ([], Self.failure(error, place, 0))
    }
  }

  /// The key's text; nil where a column of it is missing, or no key can be made of it.
  private func pk(of columns: [String: Value]) -> String? {
    var components: [String] = []
    for column in key {
      guard let component = columns[column].flatMap(RowKey.component), !component.isEmpty else { return nil }
      components.append(component)
    }
    return RowKey.text(of: components)
  }

  private func operation(_ pk: String?, isThere: Bool) throws(Failure) -> MutationOperation {
    switch form {
    case .put: break
    case .insert: if let pk, isThere { throw Failure(.finding, "\(table) \(pk): there is such a row") }
    case .update:
      guard let pk else {
        throw Failure(.usage, "the row has no key: its columns are \(key.joined(separator: ", "))")
      }
      if !isThere { throw Failure(.finding, "\(table) \(pk): no such row") }
    }
    // What has no key is for the client to judge: it makes one up, or refuses.
    return isThere ? .update : .insert
  }

  private func withoutKey(_ columns: [String: Value]) -> [String: Value] { columns.filter { !key.contains($0.key) } }

  private func checkedTransforms() throws(SyncError) -> [String: Transform] {
    var checked: [String: Transform] = [:]
    for (column, json) in transforms {
      do throws(MessageDefect) { checked[column] = try Transform(json, for: .client) } catch {
        throw SyncError(.localConstraint, "the transform of column \(column) is malformed: \(error)")
      }
    }
    return checked
  }

  /// Whether there is a row with these values, marked as deleted or not.
  private static func isThere(
    _ values: [(column: String, value: Value?)], _ client: SyncClient, _ table: String
  ) async throws -> Bool {
    var select = try client.from(table).select().includeDeleted().limit(1)
    for (column, value) in values { select = select.eq(column, value ?? .null) }
    return try await !select.rows().isEmpty
  }

  private static func failure(_ error: any Error, _ place: String, _ writtenCount: Int) -> Failure {
    let (code, message) = Failure.outcome(of: error)
    let before =
      writtenCount == 0 ? "Nothing was written." : "Written before it: \(HumanUnits.number(writtenCount, of: "row"))."
    return Failure(code, "\(place): \(message ?? "interrupted"). \(before)")
  }
}

extension Row {
  /// Values by column.
  fileprivate var byColumn: [String: Value] {
    Dictionary(map { ($0.column, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
