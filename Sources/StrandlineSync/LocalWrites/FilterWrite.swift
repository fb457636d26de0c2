internal import StrandlineProtocol

/// A write to all rows that filters find.
struct FilterWrite: Sendable {
  var table: String
  /// Update or delete.
  var operation: MutationOperation
  var filters: [Filter]
  var columns: [String: Value] = [:]
  var transforms: [String: Value]?
  var precondition: [String: Value]?
  var cardinality: QueryPlan.Cardinality = .many
  /// More rows than these are refused.
  var affectedCountMax: Int?
}

extension SyncState {
  /// Writes to each row that the filters find, in the order of their keys. Raises nothing.
  mutating func applyWhere(_ write: FilterWrite, _ context: WriteContext) throws -> [Written] {
    let table = try tables.named(write.table)
    let model = try check(write, table, context)
    var reading = store.query(table.name)
    reading.plan = try ReadRules.plan(QueryPlan(filters: write.filters), over: table, includeDeleted: false)
    reading.plan.columns = [HiddenColumn.pk]
    var targets: [String] = []
    for row in try reading.all() {
      guard case .string(let pk)? = row[HiddenColumn.pk] else { continue }
      targets.append(pk)
    }
    try check(count: targets.count, write)
    var written: [Written] = []
    for pk in targets {
      var one = model
      one.pk = pk
      written.append(try apply(one, context))
    }
    return written
  }

  /// What each row is written; refuses before any row is looked at.
  private func check(
    _ write: FilterWrite, _ table: ClientTable, _ context: WriteContext
  ) throws -> LocalWrite {
    if table.isPullOnly { throw SyncError(.localUnsupported, "table \(table.name) is pulled only") }
    if write.operation == .insert { throw SyncError(.localUnsupported, "an insert takes no filters") }
    if write.filters.isEmpty {
      throw SyncError(
        .localUnsupported, "a write by filter needs at least one; to write all rows, name a filter that all fulfil")
    }
    for filter in write.filters { try filter.validate(forWrite: true) }
    if let countMax = write.affectedCountMax, countMax < 0 {
      throw SyncError(.localUnsupported, "the most rows to write are negative (\(countMax))")
    }
    var model = LocalWrite(table: table.name, operation: write.operation, precondition: write.precondition)
    if write.operation == .delete {
      guard let column = table.softDeleteColumn else { return model }
      model.operation = .update
      model.columns = [column: .string(WireTime.text(context.clock.milliseconds()))]
      return model
    }
    model.columns = write.columns
    model.transforms = write.transforms
    try KeySettlement.checkUpdate(write.columns, write.transforms, table)
    _ = try TransformSet(write.transforms)
    return model
  }

  private func check(count: Int, _ write: FilterWrite) throws(SyncError) {
    let wanted: String? =
      switch write.cardinality {
      case .single where count != 1: "exactly one row"
      case .maybeSingle where count > 1: "at most one row"
      default: write.affectedCountMax.flatMap { count > $0 ? "at most \($0) rows" : nil }
      }
    if let wanted {
      throw SyncError(.localConstraint, "the write to \(write.table) is for \(wanted), and the filters find \(count)")
    }
  }
}
