@_spi(Engine) internal import StrandlineLog

/// What a query answers at one moment, to be compared with what it answers at another.
///
/// Nothing of the answer is held: the moment is, and what differs is read again.
struct LiveAnswer: Sendable {
  let snapshot: Snapshot
  private let query: Query
  private let table: Table

  /// - Throws: ``StoreError/unknownTable(_:)`` if the table is not there any more.
  init(_ query: Query, at snapshot: Snapshot) throws(StoreError) {
    self.query = query
    self.snapshot = snapshot
    table = try snapshot.state.tables.named(query.table)
  }

  /// Of the table's rows.
  var rowPrefix: KeyPrefix { table.rowPrefix }

  /// Whether a row is in the answer or not whatever other rows there are.
  private var isOpen: Bool { query.plan.limit == nil && query.plan.offset == 0 }

  private var reader: SnapshotTable {
    get throws(StoreError) { try SnapshotTable(query.table, at: snapshot) }
  }

  /// All of it, as if nothing had been before.
  func first() throws(StoreError) -> LiveChange {
    var change = LiveChange(query, at: snapshot, isFirst: true)
    let rows = try reader.execution(of: query.plan)
    while let (key, row) = try rows.nextWithKey() { change.add(try values(of: key), before: nil, after: row) }
    return change
  }

  /// What differs from an earlier answer; nil if nothing does.
  ///
  /// - Parameter keys: of all rows that were written since; nil: not known.
  func difference(from old: LiveAnswer, written keys: Set<[UInt8]>?) throws(StoreError) -> LiveChange? {
    var change = LiveChange(query, at: snapshot, isFirst: false)
    if let keys, hasSameColumns(as: old) {
      guard try compare(old, keys.sorted { $0.lexicographicallyPrecedes($1) }, &change) else { return nil }
      if isOpen { return change.isEmpty ? nil : change }
      change = LiveChange(query, at: snapshot, isFirst: false)
    }
    if isOpen, table.definition.number == old.table.definition.number {
      try compareAll(old, &change)
    } else {
      try compareAnswers(old, &change)
    }
    return change.isEmpty ? nil : change
  }

  /// Whether a row that was not written since reads as it did. Columns that are new are no difference: such a row has none of them.
  private func hasSameColumns(as old: LiveAnswer) -> Bool {
    let (now, then) = (table.definition, old.table.definition)
    return now.number == then.number && now.columns.count >= then.columns.count
      && now.columns.prefix(then.columns.count).elementsEqual(then.columns)
  }

  private func values(of key: [UInt8]) throws(StoreError) -> [Value] {
    try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in try table.keyValues(of: key) }
  }

  // MARK: Three ways to compare

  /// Looks at these rows alone, then and now. False: none of them was or is found by the filters.
  private func compare(
    _ old: LiveAnswer, _ keys: [[UInt8]], _ change: inout LiveChange
  ) throws(StoreError) -> Bool {
    if keys.isEmpty { return false }
    let then = try AnswerProbe(old.reader, query.plan)
    let now = try AnswerProbe(reader, query.plan)
    var isFound = false
    for key in keys {
      let before = try then.row(at: key)
      let after = try now.row(at: key)
      guard before != nil || after != nil else { continue }
      isFound = true
      change.add(try values(of: key), before: before, after: after)
    }
    return isFound
  }

  /// Walks both answers side by side in the order of the keys; holds one row of each.
  private func compareAll(_ old: LiveAnswer, _ change: inout LiveChange) throws(StoreError) {
    var plan = query.plan
    plan.orders = []
    let then = try old.reader.execution(of: plan)
    let now = try reader.execution(of: plan)
    var before = try then.nextWithKey()
    var after = try now.nextWithKey()
    while before != nil || after != nil {
      let order = Self.compare(before?.key, after?.key)
      let key = order <= 0 ? before?.key : after?.key
      change.add(
        try values(of: key ?? []), before: order <= 0 ? before?.row : nil, after: order >= 0 ? after?.row : nil)
      if order <= 0 { before = try then.nextWithKey() }
      if order >= 0 { after = try now.nextWithKey() }
    }
  }

  /// An answer that is over comes behind every key.
  private static func compare(_ one: [UInt8]?, _ other: [UInt8]?) -> Int {
    guard let one else { return other == nil ? 0 : 1 }
    guard let other else { return -1 }
    return one.withUnsafeBytes { one in other.withUnsafeBytes { KeyView.compare(one, $0) } }
  }

  /// Holds both answers, which a limit keeps small, or which are of two tables.
  private func compareAnswers(_ old: LiveAnswer, _ change: inout LiveChange) throws(StoreError) {
    var before: [[Value]: Row] = [:]
    let then = try old.reader.execution(of: query.plan)
    while let (key, row) = try then.nextWithKey() { before[try old.values(of: key)] = row }
    let now = try reader.execution(of: query.plan)
    var cameOrStayed: [(key: [Value], bytes: [UInt8], row: Row)] = []
    while let (key, row) = try now.nextWithKey() { cameOrStayed.append((try values(of: key), key, row)) }
    cameOrStayed.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    for (key, _, row) in cameOrStayed { change.add(key, before: before.removeValue(forKey: key), after: row) }
    let gone = before.map { (key: $0.key, row: $0.value) }
    for (key, row) in gone { change.add(key, before: row, after: nil) }
  }
}
