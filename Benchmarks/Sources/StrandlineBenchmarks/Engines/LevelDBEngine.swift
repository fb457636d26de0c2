internal import CLevelDB
internal import Glibc

/// LevelDB: Snappy, 64 MiB write buffer, Bloom filters, block cache, synced log.
final class LevelDBEngine: StoreEngine, @unchecked Sendable {
  // Sendable: LevelDB's handles are made for sharing.
  fileprivate let database: OpaquePointer
  fileprivate let readOptions = leveldb_readoptions_create()!
  private let writeOptions = leveldb_writeoptions_create()!
  private let options: OpaquePointer
  private let cache: OpaquePointer
  private let filter: OpaquePointer

  init(path: String, settings: EngineSettings) throws {
    options = leveldb_options_create()
    cache = leveldb_cache_create_lru(settings.cacheByteCount)
    filter = leveldb_filterpolicy_create_bloom(10)
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_compression(options, Int32(leveldb_snappy_compression))
    leveldb_options_set_write_buffer_size(options, settings.keepsAllInLog ? 1 << 30 : 64 << 20)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_filter_policy(options, filter)
    leveldb_writeoptions_set_sync(writeOptions, settings.syncsCommits ? 1 : 0)
    var error: UnsafeMutablePointer<CChar>?
    let opened = leveldb_open(options, path, &error)
    try Self.check(error)
    database = opened!
  }

  func reader() -> any EngineReader { LevelDBReader(self) }

  func commit(_ body: (any EngineTransaction) throws -> Void) throws {
    let transaction = LevelDBTransaction(self)
    try body(transaction)
    try write(transaction.batch)
  }

  /// One batch that deletes every key: there is nothing shorter.
  func reset() throws {
    let batch = leveldb_writebatch_create()!
    defer { leveldb_writebatch_destroy(batch) }
    let iterator = leveldb_create_iterator(database, readOptions)!
    defer { leveldb_iter_destroy(iterator) }
    leveldb_iter_seek_to_first(iterator)
    while leveldb_iter_valid(iterator) != 0 {
      var count = 0
      let key = leveldb_iter_key(iterator, &count)
      leveldb_writebatch_delete(batch, key, count)
      leveldb_iter_next(iterator)
    }
    try write(batch)
  }

  func compact() { leveldb_compact_range(database, nil, 0, nil, 0) }

  func close() {
    leveldb_close(database)
    leveldb_readoptions_destroy(readOptions)
    leveldb_writeoptions_destroy(writeOptions)
    leveldb_options_destroy(options)
    leveldb_cache_destroy(cache)
    leveldb_filterpolicy_destroy(filter)
  }

  fileprivate static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error else { return }
    defer { leveldb_free(error) }
    throw BenchmarkError.failed("LevelDB: \(String(cString: error))")
  }

  fileprivate func read(
    _ key: borrowing SpacedKey, count keyCount: Int, into value: UnsafeMutableRawPointer
  ) throws -> Int? {
    var error: UnsafeMutablePointer<CChar>?
    var count = 0
    let bytes = leveldb_get(database, readOptions, key.chars, keyCount, &count, &error)
    try Self.check(error)
    guard let bytes else { return nil }
    value.copyMemory(from: bytes, byteCount: count)
    leveldb_free(bytes)
    return count
  }

  private func write(_ batch: OpaquePointer) throws {
    var error: UnsafeMutablePointer<CChar>?
    leveldb_write(database, writeOptions, batch, &error)
    try Self.check(error)
  }
}

private final class LevelDBReader: EngineReader {
  private let engine: LevelDBEngine
  private let key = SpacedKey()

  init(_ engine: LevelDBEngine) { self.engine = engine }

  func refresh() {}

  func read(_ rowKey: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    key.set(.row, rowKey)
    return try engine.read(key, count: SpacedKey.rowKeyByteCount, into: value)
  }

  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws {
    try iterate { iterator in
      if let start { key.set(.row, start) } else { key.setStart(of: .row) }
      leveldb_iter_seek(iterator, key.chars, start == nil ? 1 : SpacedKey.rowKeyByteCount)
      while leveldb_iter_valid(iterator) != 0, visit(iterator, body) { leveldb_iter_next(iterator) }
    }
  }

  func scanBackwards(_ body: RowVisitor) throws {
    try iterate { iterator in
      leveldb_iter_seek_to_last(iterator)
      while leveldb_iter_valid(iterator) != 0, visit(iterator, body) { leveldb_iter_prev(iterator) }
    }
  }

  func scanOutbox(_ body: (UInt64, UnsafeRawBufferPointer) -> Void) throws {
    try iterate { iterator in
      key.setStart(of: .outbox)
      leveldb_iter_seek(iterator, key.chars, 1)
      while leveldb_iter_valid(iterator) != 0 {
        var keyCount = 0
        var count = 0
        guard let found = leveldb_iter_key(iterator, &keyCount), let value = leveldb_iter_value(iterator, &count),
          UInt8(bitPattern: found[0]) == SpacedKey.Space.outbox.rawValue
        else { return }
        body(
          SpacedKey.sequence(UnsafeRawPointer(found)),
          OutboxEntry.change(UnsafeRawBufferPointer(start: value, count: count)))
        leveldb_iter_next(iterator)
      }
    }
  }

  func close() {}

  private func iterate(_ body: (OpaquePointer) -> Void) throws {
    let iterator = leveldb_create_iterator(engine.database, engine.readOptions)!
    defer { leveldb_iter_destroy(iterator) }
    body(iterator)
    var error: UnsafeMutablePointer<CChar>?
    leveldb_iter_get_error(iterator, &error)
    try LevelDBEngine.check(error)
  }

  @inline(__always)
  private func visit(_ iterator: OpaquePointer, _ body: RowVisitor) -> Bool {
    var keyCount = 0
    var count = 0
    guard let found = leveldb_iter_key(iterator, &keyCount), let value = leveldb_iter_value(iterator, &count),
      UInt8(bitPattern: found[0]) == SpacedKey.Space.row.rawValue
    else { return false }
    return body(UnsafeRawPointer(found + 1), UnsafeRawBufferPointer(start: value, count: count))
  }
}

private final class LevelDBTransaction: EngineTransaction {
  private let engine: LevelDBEngine
  let batch = leveldb_writebatch_create()!
  private let key = SpacedKey()
  private let entry = UnsafeMutableRawPointer.allocate(byteCount: 2 * RowBytes.valueByteCountMax, alignment: 8)

  init(_ engine: LevelDBEngine) { self.engine = engine }

  deinit {
    leveldb_writebatch_destroy(batch)
    entry.deallocate()
  }

  func put(_ row: UnsafeRawBufferPointer) {
    key.set(.row, row.baseAddress!)
    let value = RowBytes.value(row)
    leveldb_writebatch_put(
      batch, key.chars, SpacedKey.rowKeyByteCount, value.baseAddress!.assumingMemoryBound(to: CChar.self), value.count)
  }

  func delete(_ rowKey: UnsafeRawPointer) {
    key.set(.row, rowKey)
    leveldb_writebatch_delete(batch, key.chars, SpacedKey.rowKeyByteCount)
  }

  func read(_ rowKey: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    key.set(.row, rowKey)
    return try engine.read(key, count: SpacedKey.rowKeyByteCount, into: value)
  }

  func putPending(_ rowKey: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) {
    let count = OutboxEntry.write(rowKey, change, to: entry)
    key.setOutbox(sequence)
    leveldb_writebatch_put(
      batch, key.chars, SpacedKey.outboxKeyByteCount, entry.assumingMemoryBound(to: CChar.self), count)
    key.set(.pending, rowKey)
    withUnsafeBytes(of: sequence) { bytes in
      leveldb_writebatch_put(
        batch, key.chars, SpacedKey.rowKeyByteCount, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count
      )
    }
  }

  func pending(_ rowKey: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange? {
    key.set(.pending, rowKey)
    guard try engine.read(key, count: SpacedKey.rowKeyByteCount, into: entry) != nil else { return nil }
    let sequence = entry.load(as: UInt64.self)
    key.setOutbox(sequence)
    guard let count = try engine.read(key, count: SpacedKey.outboxKeyByteCount, into: entry) else { return nil }
    let bytes = OutboxEntry.change(UnsafeRawBufferPointer(start: entry, count: count))
    change.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return PendingChange(sequence: sequence, byteCount: bytes.count)
  }
}
