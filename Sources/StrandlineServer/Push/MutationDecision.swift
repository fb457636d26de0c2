/// What is decided about one mutation, and what follows from it.
enum MutationDecision {
  /// With the row as it stood before, as far as the caller may read it.
  case rejected(RejectionReason, serverRow: [String: Value]?)
  case delete
  case write(RowWrite)
}

/// What an applied insert or update leaves.
struct RowWrite {
  var columns: [String: Value]
  var stamps: [String: String]
  /// Values that were replaced, for the journal.
  var losers: [(column: String, value: Value)]
  /// The verdict tells the row, because the client cannot know what the transforms made.
  var tellsRow: Bool
}

/// All that a decision about a row depends on, beside the mutation itself.
struct MutationSubject {
  var row: ServerRow?
  /// The newest tombstone of a row that is not there.
  var removal: ServerTombstone?
  /// Whether the caller has been sent rows of the bucket value that the removal left.
  var holdsGrant: Bool
  /// Whether an earlier mutation of the same push deleted the row.
  var wasDeletedJustNow: Bool
}

/// The rules by which one mutation is decided.
struct MutationRules {
  let table: ServerTable
  let caller: Caller
  /// Milliseconds since 1970, in UTC.
  let now: Int64
  let rowByteCountMax: Int

  /// How far a stamp may be ahead of the server's clock.
  static let stampLeadMilliseconds: Int64 = 5000

  /// The first rule that holds decides. The numbers are those of the table (Docs/Server.md, "Deciding one mutation").
  func decide(_ mutation: CheckedMutation, on subject: MutationSubject) -> MutationDecision {
    if subject.wasDeletedJustNow { return .rejected(.deleteWins, serverRow: nil) }  // 1
    if subject.removal != nil {  // 2
      return .rejected(subject.holdsGrant ? .deleteWins : .rowDenied, serverRow: nil)
    }
    let rendered = subject.row.flatMap { self.rendered($0.columns, of: mutation.row) }
    if let reason = refusalByKey(mutation) ?? refusalByPolicy(mutation, subject.row) {  // 3 to 6
      return .rejected(reason, serverRow: rendered)
    }
    if mutation.operation == .delete {
      return holds(mutation.precondition, of: subject.row) ? .delete : .rejected(.precondition, serverRow: rendered)
    }
    if let reason = refusalByContent(mutation, subject.row) {  // 7 to 10
      return .rejected(reason, serverRow: rendered)
    }
    let merged = merge(mutation, subject.row)
    if merged.isSuperseded { return .rejected(.superseded, serverRow: rendered) }  // 11
    guard let columns = transformed(merged.write.columns, mutation), isStorable(columns, mutation.row) else {
      return .rejected(.constraint, serverRow: rendered)  // 12
    }
    if subject.row != nil, !table.policy.mayWrite(caller, policyRow(columns, of: mutation.row)) {
      return .rejected(.rowDenied, serverRow: rendered)  // 13
    }
    var write = merged.write
    write.columns = columns
    return .write(write)
  }

  /// The row as the caller may read it; nil if it may not.
  func rendered(_ columns: [String: Value], of id: RowID) -> [String: Value]? {
    guard table.policy.mayRead(caller, policyRow(columns, of: id)) else { return nil }
    return table.rendered(columns, for: caller.role)
  }

  private func policyRow(_ columns: [String: Value], of id: RowID) -> PolicyRow {
    PolicyRow(table: id.table, pk: id.pk, columns: columns, bucketColumn: table.bucketColumn)
  }

  // MARK: Refusals

  private func refusalByKey(_ mutation: CheckedMutation) -> RejectionReason? {
    switch mutation.operation {
    case .update:
      let namesKey = table.keyColumns.contains { mutation.columns[$0] != nil || mutation.transforms[$0] != nil }
      return namesKey ? .columnDenied : nil  // 3
    case .insert:
      for (column, component) in zip(table.keyColumns, mutation.keyComponents) {
        guard let value = mutation.columns[column] else { continue }
        guard let text = value.wireText, text.isSame(as: component) else { return .constraint }  // 4
      }
      return nil
    case .delete: return nil
    }
  }

  private func refusalByPolicy(_ mutation: CheckedMutation, _ row: ServerRow?) -> RejectionReason? {
    guard let row else {
      guard mutation.operation == .insert else { return .rowDenied }  // 5
      return table.policy.mayWrite(caller, policyRow(mutation.columns, of: mutation.row)) ? nil : .rowDenied  // 6
    }
    let image = policyRow(row.columns, of: mutation.row)
    return table.policy.mayRead(caller, image) && table.policy.mayWrite(caller, image) ? nil : .rowDenied  // 5, 6
  }

  private func refusalByContent(_ mutation: CheckedMutation, _ row: ServerRow?) -> RejectionReason? {
    let names = [mutation.columns.keys.map { $0 }, mutation.transforms.keys.map { $0 }].joined()
    guard names.allSatisfy({ table.mayWrite($0, caller.role) }) else { return .columnDenied }  // 7
    guard holds(mutation.precondition, of: row) else { return .precondition }  // 8
    if mutation.operation == .insert, !mutation.transforms.isEmpty { return .constraint }  // 9
    let changesRow = mutation.operation == .update || row != nil
    if changesRow, mutation.columns.isEmpty, mutation.transforms.isEmpty { return .rowDenied }  // 10
    return nil
  }

  /// What the caller may not read is as good as absent, so that no precondition tells it.
  private func holds(_ precondition: [String: Value], of row: ServerRow?) -> Bool {
    if precondition.isEmpty { return true }
    let columns = table.rendered(row?.columns ?? [:], for: caller.role)
    return precondition.allSatisfy { name, value in (columns[name] ?? .null).equalsOnWire(value) }
  }

  // MARK: Writing

  private func merge(
    _ mutation: CheckedMutation, _ row: ServerRow?
  ) -> (write: RowWrite, isSuperseded: Bool) {
    var write = RowWrite(
      columns: row?.columns ?? [:], stamps: row?.stamps ?? [:], losers: [], tellsRow: !mutation.transforms.isEmpty)
    let stamp = mutation.stamp.map { clamped($0) }
    var winnerCount = 0
    for (column, value) in mutation.columns {
      if let stamp {
        if let text = write.stamps[column], let standing = HybridTimestamp(text), stamp <= standing { continue }
        write.stamps[column] = stamp.description
      }
      winnerCount += 1
      if table.keepsJournal, row != nil, !table.keyColumns.contains(column), let old = write.columns[column],
        !old.isNull, !old.equalsOnWire(value)
      {
        write.losers.append((column, old))
      }
      write.columns[column] = value
    }
    let isSuperseded = !mutation.columns.isEmpty && winnerCount == 0 && mutation.transforms.isEmpty
    return (write, isSuperseded)
  }

  /// A stamp from too far ahead counts as one from the latest time that is taken.
  private func clamped(_ stamp: HybridTimestamp) -> HybridTimestamp {
    var stamp = stamp
    stamp.milliseconds = min(stamp.milliseconds, now + Self.stampLeadMilliseconds)
    return stamp
  }

  private func transformed(_ columns: [String: Value], _ mutation: CheckedMutation) -> [String: Value]? {
    var columns = columns
    for (column, transform) in mutation.transforms {
      guard let value = transform.applied(to: columns[column]) else { return nil }
      columns[column] = value
    }
    return columns
  }

  /// Whether the row keeps the table's rule and fits into the storage.
  private func isStorable(_ columns: [String: Value], _ id: RowID) -> Bool {
    guard id.isStorable, (table.bucket(of: columns) ?? "").storedByteCount <= StorageLimits.bucketByteCountMax else {
      return false
    }
    guard columns.count <= ColumnRules.countMax, columns.keys.allSatisfy(ColumnRules.isName) else { return false }
    guard let byteCount = Value.object(columns).storedByteCount(), byteCount <= rowByteCountMax else { return false }
    return table.rule?(policyRow(columns, of: id)) ?? true
  }
}
