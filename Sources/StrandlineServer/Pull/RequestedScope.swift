/// What a pull asks for: of which tables, which bucket values, and rows with which columns.
struct RequestedScope {
  /// One table, with all entries that name it.
  struct Table {
    var name: String
    var table: ServerTable
    var entries: [[String: Value]]
    /// Bucket values asked for; the empty text alone on a table without buckets.
    var buckets: Set<ExactText>
  }

  private(set) var tables: [ExactText: Table] = [:]
  /// Names that the server does not know, in the order of the request.
  private(set) var unknownTables: [String] = []

  init(_ entries: [PullRequest.Bucket], _ configuration: ServerConfiguration) {
    for entry in entries {
      guard let table = configuration.table(entry.table) else {
        if !unknownTables.contains(where: { $0.isSame(as: entry.table) }) { unknownTables.append(entry.table) }
        continue
      }
      let name = ExactText(entry.table)
      var requested = tables[name] ?? Table(name: entry.table, table: table, entries: [], buckets: [])
      requested.entries.append(entry.params)
      if let column = table.bucketColumn {
        if let bucket = entry.params[column]?.wireText { requested.buckets.insert(ExactText(bucket)) }
      } else {
        requested.buckets.insert(ExactText(""))
      }
      tables[name] = requested
    }
  }

  /// The columns that the caller gets of the row; nil if the row is not deliverable: the policy hides it, or no entry asks for it.
  func rendered(_ row: ServerRow, _ id: RowID, for caller: Caller) -> [String: Value]? {
    guard let requested = tables[ExactText(id.table)] else { return nil }
    let table = requested.table
    let image = PolicyRow(table: id.table, pk: id.pk, columns: row.columns, bucketColumn: table.bucketColumn)
    guard table.policy.mayRead(caller, image) else { return nil }
    let columns = table.rendered(row.columns, for: caller.role)
    let isAskedFor = requested.entries.contains { params in
      params.allSatisfy { name, value in
        if name == table.bucketColumn {
          guard let wanted = value.wireText, let bucket = row.bucket else { return false }
          return wanted.isSame(as: bucket)
        }
        return (columns[name] ?? .null).equalsOnWire(value)
      }
    }
    return isAskedFor ? columns : nil
  }
}
