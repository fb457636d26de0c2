import Strandline
import StrandlineLog

/// Our store, through its public interface: prepared tables, and rows where they are stored.
///
/// Options are the defaults but for the cache: a memory layer of 32 MiB, compaction in the background, no history.
final class StrandlineEngine: StoreEngine, @unchecked Sendable {
  // Sendable: everything is.
  private let store: Store
  private let tables: StrandlineTables

  init(path: String, settings: EngineSettings) throws {
    var options = StoreOptions()
    options.cacheByteCountMax = settings.cacheByteCount
    options.durability = settings.syncsCommits ? .synced : .buffered
    if settings.keepsOneDay { options.history = .age(.seconds(86_400)) }
    if settings.keepsAllInLog {
      options.memoryLayerByteCountMax = 2 << 30
      options.compactsInBackground = false
    }
    store = try Store.open(at: "\(path)/store", schema: StrandlineTables.schema, options: options)
    tables = try StrandlineTables(store.view())
  }

  func reader() throws -> any EngineReader { StrandlineReader(store, tables, try store.view()) }

  func commit(_ body: (any EngineTransaction) throws -> Void) throws {
    do {
      try store.write { transaction in
        try withUnsafeMutablePointer(to: &transaction) { transaction in
          try body(StrandlineTransaction(transaction, tables))
        }
      }
    } catch {
      switch error {
      case .body(let reason): throw reason
      case .store(let reason): throw reason
      }
    }
  }

  func reset() throws { try store.reset() }
  func compact() throws { try store.compact() }
  func close() throws { try store.close() }
}

private final class StrandlineReader: EngineReader {
  private let store: Store
  private let tables: StrandlineTables
  private var view: ReadView
  private var rows: RowReader
  private let key = UnsafeMutableRawPointer.allocate(byteCount: RowBytes.keyByteCount, alignment: 8)

  init(_ store: Store, _ tables: StrandlineTables, _ view: ReadView) {
    self.store = store
    self.tables = tables
    self.view = view
    rows = view.rows()
  }

  deinit { key.deallocate() }

  func refresh() throws {
    view = try store.view()
    rows = view.rows()
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    let (table, id) = StrandlineTables.place(key)
    let room = UnsafeMutableRawBufferPointer(start: value, count: RowBytes.valueByteCountMax)
    var count: Int?
    try rows.read(id, in: tables.rows[table]) { row in
      count = row.copyBytes(of: tables.values[table], to: room)
    }
    return count
  }

  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws {
    let first = start.map { StrandlineTables.place($0) }
    for table in (first?.table ?? 0)..<StrandlineTables.count {
      let from = first.flatMap { $0.table == table ? [Value.uuid($0.id)] : nil }
      if try !scan(table, from: from, backwards: false, body) { return }
    }
  }

  func scanBackwards(_ body: RowVisitor) throws {
    for table in (0..<StrandlineTables.count).reversed() {
      if try !scan(table, from: nil, backwards: true, body) { return }
    }
  }

  /// False: `body` has seen enough.
  private func scan(_ table: Int, from: [Value]?, backwards: Bool, _ body: RowVisitor) throws -> Bool {
    let key = key
    let column = tables.values[table]
    var goesOn = true
    try rows.scan(tables.rows[table], from: from, backwards: backwards) { row in
      guard let id = row.uuid else { return true }
      StrandlineTables.write(table, id, to: key)
      row.withBytes(of: column) { value in goesOn = body(key, value) }
      return goesOn
    }
    return goesOn
  }

  func scanOutbox(_ body: (UInt64, UnsafeRawBufferPointer) -> Void) throws {
    try rows.scan(tables.outbox) { row in
      guard case .int(let sequence) = try row.key.first else { return true }
      row.withBytes(of: tables.outboxChange) { change in body(UInt64(bitPattern: sequence), change) }
      return true
    }
  }

  func close() {}
}

private final class StrandlineTransaction: EngineTransaction {
  private let transaction: UnsafeMutablePointer<Transaction>
  private let tables: StrandlineTables
  private var cells = RowCells()

  init(_ transaction: UnsafeMutablePointer<Transaction>, _ tables: StrandlineTables) {
    self.transaction = transaction
    self.tables = tables
  }

  func put(_ row: UnsafeRawBufferPointer) throws {
    let (table, id) = StrandlineTables.place(row.baseAddress!)
    cells.removeAll()
    try cells.set(tables.values[table], bytes: RowBytes.value(row))
    try transaction.pointee.put(id, cells, into: tables.rows[table])
  }

  func delete(_ key: UnsafeRawPointer) throws {
    let (table, id) = StrandlineTables.place(key)
    try transaction.pointee.delete(id, from: tables.rows[table])
  }

  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    let (table, id) = StrandlineTables.place(key)
    let room = UnsafeMutableRawBufferPointer(start: value, count: RowBytes.valueByteCountMax)
    var count: Int?
    try transaction.pointee.read(id, in: tables.rows[table]) { row in
      count = row.copyBytes(of: tables.values[table], to: room)
    }
    return count
  }

  func putPending(_ key: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) throws {
    let (table, id) = StrandlineTables.place(key)
    let number = Value.int(Int64(bitPattern: sequence))
    cells.removeAll()
    try cells.set(
      tables.outboxRow, bytes: UnsafeRawBufferPointer(start: key, count: RowBytes.keyByteCount))
    try cells.set(tables.outboxChange, bytes: change)
    try transaction.pointee.put(key: [number], cells, into: tables.outbox)
    cells.removeAll()
    try cells.set(tables.pendingSequences[table], number)
    try transaction.pointee.put(id, cells, into: tables.pending[table])
  }

  func pending(_ key: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange? {
    let (table, id) = StrandlineTables.place(key)
    var number: Value?
    try transaction.pointee.read(id, in: tables.pending[table]) { row in
      number = try row.value(of: tables.pendingSequences[table])
    }
    guard let number, case .int(let sequence) = number else { return nil }
    let room = UnsafeMutableRawBufferPointer(start: change, count: RowBytes.valueByteCountMax)
    var count: Int?
    try transaction.pointee.read(key: [number], in: tables.outbox) { row in
      count = row.copyBytes(of: tables.outboxChange, to: room)
    }
    return count.map { PendingChange(sequence: UInt64(bitPattern: sequence), byteCount: $0) }
  }
}
