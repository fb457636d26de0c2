internal import StrandlineProtocol

/// Lays the queue over the server's snapshot: the rule table of Docs/ClientReset.md, walked once in the order of the queue.
///
/// A pure function: no clock, no chance, no network. W is the snapshot with ``rows`` laid over it.
struct Recovery {
  /// One row of W that the queue has touched.
  struct WorkingRow: Hashable, Sendable {
    let base: SnapshotRow
    /// Nil: there is none.
    var image: RowImage?
    /// Removed by an own delete that is kept.
    var isRemoved = false
    /// Hidden by an own delete that is kept or deferred.
    var isShadowed = false
    /// Whether a row that the snapshot has nothing of would be in it.
    var isInScope = true
    /// An insert of the row was dropped.
    var hasLostInsert = false
    /// Places of the entries of this row that are kept or deferred.
    var standing: [Int] = []
  }

  private let base: RecoveryBase
  private(set) var rows: [RowName: WorkingRow] = [:]
  private(set) var entries: [RecoveredEntry] = []
  /// By row, the pre-image of its first entry: what the server was known to have.
  private var confirmed: [RowName: [String: Value]] = [:]
  /// What the batch under way has changed, as it was.
  private var formerRows: [RowName: WorkingRow?]?
  private var formerEntries: [Int: RecoveredEntry] = [:]

  /// - Parameter queue: in its order.
  /// - Throws: what `base` throws; ``SyncErrorCode/localConstraint`` for a transform that does not decode.
  init(_ queue: [OutboxEntry], over base: RecoveryBase) throws {
    self.base = base
    entries = queue.map { RecoveredEntry(entry: $0, original: $0, decision: .settle(isWithdrawn: false)) }
    var known: Set<RowName> = []
    for entry in queue where known.insert(entry.name).inserted { confirmed[entry.name] = entry.preImage }
    var place = 0
    while place < queue.count {
      var end = place + 1
      if let batch = queue[place].batchID {
        while end < queue.count, queue[end].batchID == batch { end += 1 }
        try decideBatch(place..<end)
      } else {
        _ = try decide(place)
      }
      place = end
    }
  }

  // MARK: Batches

  /// A member that has to be dropped drops all, and what the walk of the batch did is undone.
  private mutating func decideBatch(_ members: Range<Int>) throws {
    formerRows = [:]
    formerEntries = [:]
    defer { formerRows = nil }
    for place in members {
      guard case .drop(let drop) = try decide(place) else { continue }
      undoBatch()
      let culprit = entries[place].original.mutationID
      for member in members {
        entries[member].decision = .drop(member == place ? drop : RecoveryDrop(.batch, culprit: culprit))
        let entry = entries[member].original
        guard entry.operation == .insert else { continue }
        var row = try workingRow(entry)
        if row.image == nil { row.hasLostInsert = true }
        set(row, at: entry.name)
      }
      return
    }
  }

  private mutating func undoBatch() {
    for (name, row) in formerRows ?? [:] { rows[name] = row }
    for (place, entry) in formerEntries { entries[place] = entry }
    formerRows = nil
  }

  private mutating func set(_ row: WorkingRow, at name: RowName) {
    if formerRows != nil, formerRows?[name] == nil { formerRows?[name] = .some(rows[name]) }
    rows[name] = row
  }

  private mutating func set(_ entry: RecoveredEntry, at place: Int) {
    if formerRows != nil, formerEntries[place] == nil { formerEntries[place] = entries[place] }
    entries[place] = entry
  }

  // MARK: One entry

  private mutating func decide(_ place: Int) throws -> RecoveryDecision {
    let decision = try rule(place)
    var entry = entries[place]
    entry.decision = decision
    set(entry, at: place)
    return decision
  }

  private mutating func rule(_ place: Int) throws -> RecoveryDecision {
    var entry = entries[place].original
    let transforms = try TransformSet(entry.transforms)
    // N
    guard let table = base.tables.find(entry.name.table) else {
      var row = try workingRow(entry)
      if entry.operation == .delete { row.isShadowed = true }
      return stand(place, entry, &row, .defer(.tableNotConfigured))
    }
    // P
    if table.isPullOnly { return .drop(RecoveryDrop(.tableIsPullOnly)) }
    // E
    if entry.operation == .update, transforms.isEmpty,
      entry.columns.keys.allSatisfy({ base.tables.localOnlyColumns.contains($0) })
    {
      return .settle(isWithdrawn: false)
    }
    var row = try workingRow(entry)
    if entry.operation == .insert, row.isShadowed {
      withdraw(&row)
      // Whatever the insert comes to.
      set(row, at: entry.name)
    }
    if let image = row.image { return try ruleOfLive(place, &entry, table, transforms, &row, image) }
    switch entry.operation {
    case .insert: return try insertAbsent(place, entry, &row)
    case .update:
      if row.isRemoved { return .drop(RecoveryDrop(.deletedLocally)) }
      if row.base == .buried { return .drop(RecoveryDrop(.deletedOnServer)) }
      if row.hasLostInsert || row.isInScope { return .drop(RecoveryDrop(.missingOnServer)) }
      return stand(place, entry, &row, .defer(.outOfScope))
    case .delete:
      if row.isRemoved || row.base == .buried || row.hasLostInsert || row.isInScope {
        return .settle(isWithdrawn: false)
      }
      row.isShadowed = true
      return stand(place, entry, &row, .defer(.outOfScope))
    }
  }

  /// Column L of the table.
  private mutating func ruleOfLive(
    _ place: Int, _ entry: inout OutboxEntry, _ table: ClientTable, _ transforms: TransformSet, _ row: inout WorkingRow,
    _ image: RowImage
  ) throws -> RecoveryDecision {
    switch entry.operation {
    case .insert:
      // I: merged.
      entry.operation = .update
      entry.transforms = nil
      for column in table.key { entry.columns[column] = nil }
      let isEmpty = entry.columns.keys.allSatisfy { base.tables.localOnlyColumns.contains($0) }
      if isEmpty { return .settle(isWithdrawn: false) }
      var merged = image
      merged.columns.merge(entry.columns) { _, new in new }
      guard try base.fits(entry.name, merged) else { return .drop(RecoveryDrop(.tooLarge)) }
      row.image = merged
      entry.preImage = image.columns
      return stand(place, entry, &row, .keep(isMerged: true))
    case .update:
      // TR
      if let column = Self.misfit(transforms, on: image) {
        return .drop(RecoveryDrop(.typeChangedOnServer, column: column))
      }
      var changed = image
      changed.columns.merge(entry.columns) { _, new in new }
      try transforms.apply(to: &changed.columns, onMisfit: .leave)
      // Z
      guard try base.fits(entry.name, changed) else { return .drop(RecoveryDrop(.tooLarge)) }
      row.image = changed
      entry.preImage = image.columns
      return stand(place, entry, &row, .keep(isMerged: false))
    case .delete:
      row.image = nil
      row.isRemoved = true
      row.isShadowed = true
      entry.preImage = image.columns
      return stand(place, entry, &row, .keep(isMerged: false))
    }
  }

  /// Rows I of the columns T, A and O.
  private mutating func insertAbsent(
    _ place: Int, _ entry: OutboxEntry, _ row: inout WorkingRow
  ) throws -> RecoveryDecision {
    if row.base == .buried { return lostInsert(entry, &row, .deletedOnServer) }
    let image = RowImage(entry.columns)
    guard try base.fits(entry.name, image) else { return lostInsert(entry, &row, .tooLarge) }
    row.image = image
    row.hasLostInsert = false
    return stand(place, entry, &row, .keep(isMerged: false))
  }

  private mutating func lostInsert(
    _ entry: OutboxEntry, _ row: inout WorkingRow, _ reason: ClientResetReport.Reason
  ) -> RecoveryDecision {
    row.hasLostInsert = true
    set(row, at: entry.name)
    return .drop(RecoveryDrop(reason))
  }

  private mutating func stand(
    _ place: Int, _ entry: OutboxEntry, _ row: inout WorkingRow, _ decision: RecoveryDecision
  ) -> RecoveryDecision {
    var entry = entry
    entry.isDeferred = if case .defer = decision { true } else { false }
    // There is no row in front of it.
    if entry.isDeferred || entry.operation == .insert { entry.preImage = nil }
    row.standing.append(place)
    set(row, at: entry.name)
    var recovered = entries[place]
    recovered.entry = entry
    set(recovered, at: place)
    return decision
  }

  /// An insert behind an own delete: what the row's earlier entries did was deleted by the user.
  private mutating func withdraw(_ row: inout WorkingRow) {
    for place in row.standing {
      var withdrawn = entries[place]
      withdrawn.entry = withdrawn.original
      withdrawn.decision = .settle(isWithdrawn: true)
      set(withdrawn, at: place)
    }
    row.standing = []
    row.isRemoved = false
    row.isShadowed = false
    row.image = if case .live(let image) = row.base { image } else { nil }
  }

  /// The row as the walk has it; of one that no entry has touched yet, as the snapshot has it.
  private mutating func workingRow(_ entry: OutboxEntry) throws -> WorkingRow {
    if let row = rows[entry.name] { return row }
    let found = try base.row(entry.name)
    var row = WorkingRow(base: found)
    if case .live(let image) = found { row.image = image }
    row.isInScope = isInScope(entry.name)
    set(row, at: entry.name)
    return row
  }

  /// Whether the row's last confirmed image lies in what the snapshot was pulled with.
  private func isInScope(_ name: RowName) -> Bool {
    guard let column = base.tables.find(name.table)?.configuration.bucket.column else { return true }
    guard let image = confirmed[name], let value = base.buckets[name.table] else { return false }
    return image[column]?.equalsOnWire(.string(value)) ?? false
  }

  /// A column whose value a transform cannot be done on, the first by name.
  private static func misfit(_ transforms: TransformSet, on image: RowImage) -> String? {
    transforms.byColumn.filter { column, transform in
      guard let cell = image.columns[column], !cell.isNull else { return false }
      switch (transform, cell) {
      case (.increment, .bool), (.increment, .array), (.increment, .object): return true
      case (.increment, .string(let text)), (.increment, .decimal(let text)): return !isDecimalNumber(text)
      case (.increment, _): return false
      case (_, .array): return false
      default: return true
      }
    }.keys.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Sign, digits, fraction, exponent.
  static func isDecimalNumber(_ text: String) -> Bool {
    var rest = Substring(text).utf8
    func isSign(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") }
    func digits() -> Int {
      let count = rest.prefix { 0x30...0x39 ~= $0 }.count
      rest = rest.dropFirst(count)
      return count
    }
    if isSign(rest.first) { rest = rest.dropFirst() }
    var count = digits()
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      count += digits()
    }
    if count == 0 { return false }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if isSign(rest.first) { rest = rest.dropFirst() }
      if digits() == 0 { return false }
    }
    return rest.isEmpty
  }
}
