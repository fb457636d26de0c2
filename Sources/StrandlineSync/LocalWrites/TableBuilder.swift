public import StrandlineProtocol

extension SyncClient {
  /// One table, to be read and written in steps.
  ///
  /// ```swift
  /// try await client.from("todos").insert(["title": "works on a plane"])
  /// let open = try await client.from("todos").select().eq("done", false).order(by: "title").rows()
  /// ```
  ///
  /// - Throws: ``SyncErrorCode/unknownTable``, also once the client is closed.
  public func from(_ table: String) throws(SyncError) -> TableBuilder {
    if withMemory({ $0.isClosed }) {
      throw SyncError(.unknownTable, "table \"\(table)\" is not configured: the client is closed")
    }
    return TableBuilder(client: self, table: try tables.named(table).name)
  }
}

/// One table of a client. Nothing is done before one of the last steps asks for it.
public struct TableBuilder: Sendable {
  let client: SyncClient
  let table: String

  /// Inserts a row. Without a value of the key `id` it gets a new one.
  ///
  /// - Throws: as ``SyncClient/apply(_:to:pk:columns:mutationID:transforms:precondition:)``.
  public func insert(_ columns: [String: Value]) async throws {
    try await client.apply(LocalWrite(table: table, operation: .insert, columns: columns))
  }

  /// An update of the rows that filters find.
  public func update(
    _ columns: [String: Value] = [:], transforms: [String: Transform] = [:], precondition: [String: Value]? = nil
  ) -> WriteBuilder {
    WriteBuilder(
      client: client,
      write: FilterWrite(
        table: table, operation: .update, filters: [], columns: columns, transforms: transforms.mapValues(\.json),
        precondition: precondition))
  }

  /// A delete of the rows that filters find; a table that marks its rows marks them.
  public func delete(precondition: [String: Value]? = nil) -> WriteBuilder {
    WriteBuilder(
      client: client, write: FilterWrite(table: table, operation: .delete, filters: [], precondition: precondition))
  }

  /// A question for rows with these columns, each a name or a list with commas; none: every column.
  public func select(_ columns: String..., head: Bool = false, count: Bool = false) -> SelectBuilder {
    var plan = QueryPlan(isHead: head, isCounted: count)
    plan.columns = QueryPlan.columns(of: columns.joined(separator: ","))
    return SelectBuilder(client: client, table: table, plan: plan)
  }
}

/// A write to the rows that filters find; at least one is needed.
public struct WriteBuilder: Sendable, FilterBuilding {
  let client: SyncClient
  var write: FilterWrite

  public func filter(_ filter: Filter) -> WriteBuilder {
    var builder = self
    builder.write.filters.append(filter)
    return builder
  }

  private func with(_ cardinality: QueryPlan.Cardinality) -> WriteBuilder {
    var builder = self
    builder.write.cardinality = cardinality
    return builder
  }

  /// Writes nothing unless exactly one row is found.
  public func single() -> WriteBuilder { with(.single) }

  /// Writes nothing if more than one row is found.
  public func maybeSingle() -> WriteBuilder { with(.maybeSingle) }

  /// Writes nothing if more rows are found.
  public func maxAffected(_ count: Int) -> WriteBuilder {
    var builder = self
    builder.write.affectedCountMax = count
    return builder
  }

  /// Writes; answers the keys of the rows in their order.
  ///
  /// - Throws: as ``SyncClient/applyWhere(_:in:filters:columns:transforms:precondition:)``.
  @discardableResult
  public func execute() async throws -> [String] { try await client.applyWhere(write).map(\.name.pk) }

  /// Writes; answers the rows: of an update as they are now, of a delete as they were.
  ///
  /// - Parameter columns: names or lists with commas; none: every column.
  public func select(_ columns: String...) async throws -> [Row] {
    let names = QueryPlan.columns(of: columns.joined(separator: ","))
    let table = try client.tables.named(write.table)
    return try await client.applyWhere(write).compactMap { one in
      let image = write.operation == .delete ? one.before : one.after
      guard let row = image?.answer(one.name.pk, of: table) else { return nil }
      guard let names else { return row }
      return Row(Dictionary(names.map { ($0, row[$0] ?? .null) }, uniquingKeysWith: { first, _ in first }))
    }
  }
}
