// HOT PATH: once per row looked at.

/// Walks an access path and gives the stored rows on it.
final class CandidateCursor<Table: TableReading> {
  /// A row and its primary key; valid until the next call.
  struct Candidate {
    var key: UnsafeRawBufferPointer
    var row: UnsafeRawBufferPointer
  }

  private enum Source {
    case nothing
    /// Keys to be looked up, `next` is the first of them; `areEntries`: an index named them.
    case keys([[UInt8]], next: Int, areEntries: Bool)
    case rows(RangeWalk<Table>)
    case entries(RangeWalk<Table>)
    case reverseTies(ReverseTies<Table>)
    /// Not collected yet.
    case entriesByKey(IndexScan)
  }

  private let table: Table
  private let rowPrefix: KeyPrefix
  private let limits: QueryLimits
  private var source: Source
  private var rowBuffer = ValueBuffer()
  private var keyBuffer = ValueBuffer(capacity: 64)
  private var escapedKey: [UInt8] = []

  init(_ table: Table, _ path: AccessPath, _ limits: QueryLimits) {
    self.table = table
    self.limits = limits
    rowPrefix = KeyPrefix(.row, table: table.table.number)
    let indexPrefix = KeyPrefix(.index, table: table.table.number)
    switch path {
    case .nothing: source = .nothing
    case .keys(let keys): source = .keys(keys, next: 0, areEntries: false)
    case .rows(let ranges, let isReverse):
      source = .rows(RangeWalk(table, rowPrefix, ranges, isReverse: isReverse))
    case .index(let scan):
      switch scan.order {
      case .entries: source = .entries(RangeWalk(table, indexPrefix, scan.ranges, isReverse: scan.isReverse))
      case .reverseEntriesTiesByKey:
        source = .reverseTies(ReverseTies(table, indexPrefix, scan, turnedCountMax: limits.turnedCountMax))
      case .keys: source = .entriesByKey(scan)
      }
    }
  }

  func next() throws(StoreError) -> Candidate? {
    while true {
      switch source {
      case .nothing:
        return nil
      case .rows(let walk):
        guard let version = try walk.next() else { return nil }
        guard let row = version.value else { continue }
        return Candidate(key: version.key.bytes, row: row)
      case .entries(let walk):
        guard let version = try walk.next() else { return nil }
        return try named(try primaryKey(of: version.key.bytes))
      case .reverseTies(let ties):
        guard let key = try ties.next() else { return nil }
        keyBuffer.copy(key)
        return try named(keyBuffer.bytes)
      case .keys(let keys, let next, let areEntries):
        guard next < keys.count else { return nil }
        source = .keys(keys, next: next + 1, areEntries: areEntries)
        keyBuffer.copy(keys[next])
        if areEntries { return try named(keyBuffer.bytes) }
        if let candidate = try find(keyBuffer.bytes) { return candidate }
      case .entriesByKey(let scan):
        source = try collect(scan)
      }
    }
  }

  /// Of an index entry; valid as long as the entry, and until the next call.
  private func primaryKey(of entry: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer {
    if let key = IndexEncoding.primaryKey(of: entry) { return key }
    try IndexEncoding.readPrimaryKey(of: entry, into: &escapedKey)
    keyBuffer.copy(escapedKey)
    return keyBuffer.bytes
  }

  /// The row at a key.
  func find(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Candidate? {
    guard try table.find(KeyView(prefix: rowPrefix, bytes: key), into: &rowBuffer) else { return nil }
    return Candidate(key: key, row: rowBuffer.bytes)
  }

  /// The row that an index entry, or an earlier look at the same state, names.
  func named(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Candidate {
    if let candidate = try find(key) { return candidate }
    throw .undecodable(what: "index of \(table.table.name)", reason: "an entry names a row that is not there")
  }

  private func collect(_ scan: IndexScan) throws(StoreError) -> Source {
    let walk = RangeWalk(table, KeyPrefix(.index, table: table.table.number), scan.ranges, isReverse: false)
    var keys: [[UInt8]] = []
    var byteCount = 0
    while let version = try walk.next() {
      let key = try primaryKey(of: version.key.bytes)
      // An array is a pointer and a head of its own besides its bytes.
      byteCount += key.count + 40
      if byteCount > limits.collectedByteCountMax {
        return .rows(RangeWalk(table, rowPrefix, [.all], isReverse: false))
      }
      keys.append(Array(key))
    }
    keys.sort { one, other in one.withUnsafeBytes { one in other.withUnsafeBytes { KeyView.compare(one, $0) < 0 } } }
    return .keys(keys, next: 0, areEntries: true)
  }
}
