internal import StrandlineProtocol

extension SyncState {
  /// What a local write did.
  struct Written {
    var name: RowName
    /// Nil: nothing was queued, for the write was of this device's own columns alone.
    var depth: Int?
    /// The row in front of the write, and behind it.
    var before: RowImage?
    var after: RowImage?
  }

  /// Makes one local write: the row, the queue, the stamp. Raises nothing.
  ///
  /// - Throws: the first of the checks of a write that fails; nothing was changed then.
  mutating func apply(_ write: LocalWrite, _ context: WriteContext) throws -> Written {
    var write = write
    let table = try tables.named(write.table)
    try check(&write, table)
    let owner = try metaText(.ownerSubject)
    if write.operation == .insert, case .byOwner(let column) = table.configuration.bucket, let owner,
      write.columns[column] == nil
    {
      write.columns[column] = .string(owner)
    }
    let pk = try KeySettlement.settle(&write, of: table) { context.ids.uuid() }
    let name = RowName(table: table.name, pk: pk)
    let now = context.clock.milliseconds()
    if isLocalOnly(write) { return try applyLocally(write, name) }
    let hlc = try stamp(write, table, now, context)
    try guardAgainstResurrection(write, at: name)
    let transforms = try TransformSet(write.transforms)
    if let column = transforms.byColumn.keys.first(where: { write.columns[$0] != nil }) {
      throw SyncError(.localConstraint, "column \(column) is set and transformed by one write")
    }
    let before = try row(name)
    let after = try applyToRow(write, name, before, transforms)
    let entry = OutboxEntry(
      seq: 0, mutationID: write.mutationID ?? context.ids.uuid(), name: name, operation: write.operation,
      columns: write.columns, precondition: write.precondition, transforms: write.transforms, batchID: write.batchID,
      preImage: before?.columns, hlc: hlc, createdAt: now, isPerhapsInBase: write.isRepeated)
    return Written(name: name, depth: try enqueue(entry), before: before, after: after)
  }

  private mutating func check(_ write: inout LocalWrite, _ table: ClientTable) throws {
    if table.isPullOnly { throw SyncError(.localUnsupported, "table \(table.name) is pulled only") }
    if write.operation == .delete {
      if let column = table.softDeleteColumn {
        throw SyncError(
          .softDeleteViolation,
          "rows of \(table.name) are marked in \(column) and not deleted; delete by filter, or set the column")
      }
      write.columns = [:]
      write.transforms = nil
    }
    write.columns = write.columns.jsonForm
    write.precondition = write.precondition?.jsonForm
    write.transforms = write.transforms.flatMap { $0.isEmpty ? nil : $0.jsonForm }
    for column in [write.columns.keys, write.transforms?.keys, write.precondition?.keys].compactMap({ $0 }).joined() {
      if !ColumnRules.isName(column) {
        throw SyncError(
          .localUnsupported,
          "a column's name has 1 to 256 bytes and does not begin with U+0001: \"\(column.prefix(40))\"")
      }
    }
    for (column, value) in [write.columns, write.precondition ?? [:], write.transforms ?? [:]].joined()
    where !tables.localOnlyColumns.contains(column) && value.isNested(deeperThan: Self.valueDepthMax) {
      throw SyncError(
        .localUnsupported,
        "the value of column \(column) has more than \(Self.valueDepthMax) arrays and objects inside one another, which no request carries"
      )
    }
    if let id = write.mutationID {
      if id.isEmpty { throw SyncError(.localUnsupported, "the id of a mutation is empty") }
      if id.utf8.count > 256 {
        throw SyncError(.localUnsupported, "the id of a mutation has \(id.utf8.count) bytes; 256 are the most")
      }
    }
  }

  /// A message has at most 64 arrays and objects inside one another, and five of a push are around a value: the request, its batch, the
  /// mutations, the mutation and its columns.
  private static let valueDepthMax = 59

  /// Whether an update is of columns alone that stay on this device.
  private func isLocalOnly(_ write: LocalWrite) -> Bool {
    if tables.localOnlyColumns.isEmpty || write.operation != .update { return false }
    let named = Array(write.columns.keys) + Array((write.transforms ?? [:]).keys)
    return !named.isEmpty && named.allSatisfy { tables.localOnlyColumns.contains($0) }
  }

  private mutating func applyLocally(_ write: LocalWrite, _ name: RowName) throws -> Written {
    let transforms = try TransformSet(write.transforms)
    let before = try row(name)
    let after = try applyToRow(write, name, before, transforms)
    return Written(name: name, depth: nil, before: before, after: after)
  }

  /// Answers the row behind the write.
  private mutating func applyToRow(
    _ write: LocalWrite, _ name: RowName, _ before: RowImage?, _ transforms: TransformSet
  ) throws -> RowImage? {
    switch write.operation {
    case .insert:
      if before != nil {
        throw SyncError(.localConstraint, "table \(name.table) has a row with the key \(name.pk) already")
      }
      let image = RowImage(write.columns)
      try put(image, at: name)
      return image
    case .update:
      var image = before ?? RowImage([:])
      image.columns.merge(write.columns) { _, new in new }
      try transforms.apply(to: &image.columns, onMisfit: .refuse)
      try put(image, at: name)
      return image
    case .delete:
      try shadow(name)
      return nil
    }
  }

  private mutating func stamp(
    _ write: LocalWrite, _ table: ClientTable, _ now: Int64, _ context: WriteContext
  ) throws -> String? {
    guard table.hasStamps else { return nil }
    if let hlc = write.hlc { return hlc }
    let last = try metaText(.originHLC).map { (text) throws(SyncError) in
      guard let stamp = HybridTimestamp(text) else {
        throw SyncError(.json, "the stored last stamp is none: \"\(text)\"")
      }
      return stamp
    }
    let stamp = OriginStamp.next(after: last, now: now) { context.ids.uuid() }
    try setMeta(.originHLC, .string(stamp.description))
    return stamp.description
  }
}
