internal import CRocksDB
internal import Glibc

/// RocksDB: LZ4, 64 MiB write buffer, Bloom filters, a block cache that also holds index and filters, synced log.
///
/// As its guide to basic tuning has it, but for 4 KiB blocks: point reads are faster with them.
final class RocksDBEngine: StoreEngine, @unchecked Sendable {
  // Sendable: RocksDB's handles are made for sharing.
  fileprivate let database: OpaquePointer
  fileprivate let readOptions = rocksdb_readoptions_create()!
  private let writeOptions = rocksdb_writeoptions_create()!
  private let options: OpaquePointer
  private let tableOptions: OpaquePointer
  private let cache: OpaquePointer

  init(path: String, settings: EngineSettings) throws {
    options = rocksdb_options_create()
    var error: UnsafeMutablePointer<CChar>?
    if settings.keepsAllInLog {
      // The C interface has no function for this one. Without it recovery also writes a table, and takes longer.
      let standard = rocksdb_options_create()!
      defer { rocksdb_options_destroy(standard) }
      rocksdb_get_options_from_string(standard, "avoid_flush_during_recovery=true", options, &error)
      try Self.check(error)
    }
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_increase_parallelism(options, 2)
    rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
    rocksdb_options_set_write_buffer_size(options, settings.keepsAllInLog ? 2 << 30 : 64 << 20)
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
    rocksdb_options_set_bytes_per_sync(options, 1 << 20)
    cache = rocksdb_cache_create_lru(settings.cacheByteCount)
    tableOptions = rocksdb_block_based_options_create()
    rocksdb_block_based_options_set_block_cache(tableOptions, cache)
    rocksdb_block_based_options_set_filter_policy(tableOptions, rocksdb_filterpolicy_create_bloom(10))
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(tableOptions, 1)
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(tableOptions, 1)
    rocksdb_options_set_block_based_table_factory(options, tableOptions)
    rocksdb_writeoptions_set_sync(writeOptions, settings.syncsCommits ? 1 : 0)
    let opened = rocksdb_open(options, path, &error)
    try Self.check(error)
    database = opened!
  }

  func reader() -> any EngineReader { RocksDBReader(self) }

  func commit(_ body: (any EngineTransaction) throws -> Void) throws {
    let transaction = RocksDBTransaction(self)
    try body(transaction)
    try write(transaction.batch)
  }

  /// One tombstone over all keys.
  func reset() throws {
    let batch = rocksdb_writebatch_create()!
    defer { rocksdb_writebatch_destroy(batch) }
    rocksdb_writebatch_delete_range(batch, "\u{0}", 1, "\u{7F}", 1)
    try write(batch)
  }

  func compact() throws {
    let force = rocksdb_compactoptions_create()!
    defer { rocksdb_compactoptions_destroy(force) }
    // 3: rewrite the lowest level too, once.
    rocksdb_compactoptions_set_bottommost_level_compaction(force, 3)
    let flush = rocksdb_flushoptions_create()!
    defer { rocksdb_flushoptions_destroy(flush) }
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_flush(database, flush, &error)
    try Self.check(error)
    rocksdb_compact_range_opt(database, force, nil, 0, nil, 0)
  }

  func close() {
    rocksdb_close(database)
    rocksdb_readoptions_destroy(readOptions)
    rocksdb_writeoptions_destroy(writeOptions)
    rocksdb_options_destroy(options)
    rocksdb_block_based_options_destroy(tableOptions)
    rocksdb_cache_destroy(cache)
  }

  fileprivate static func check(_ error: UnsafeMutablePointer<CChar>?) throws {
    guard let error else { return }
    defer { rocksdb_free(error) }
    throw BenchmarkError.failed("RocksDB: \(String(cString: error))")
  }

  fileprivate func read(_ key: borrowing SpacedKey, into value: UnsafeMutableRawPointer) throws -> Int? {
    var error: UnsafeMutablePointer<CChar>?
    let slice = rocksdb_get_pinned(database, readOptions, key.chars, SpacedKey.rowKeyByteCount, &error)
    try Self.check(error)
    return Self.copy(slice, into: value)
  }

  fileprivate static func copy(_ slice: OpaquePointer?, into value: UnsafeMutableRawPointer) -> Int? {
    guard let slice else { return nil }
    defer { rocksdb_pinnableslice_destroy(slice) }
    var count = 0
    guard let bytes = rocksdb_pinnableslice_value(slice, &count) else { return nil }
    value.copyMemory(from: bytes, byteCount: count)
    return count
  }

  private func write(_ batch: OpaquePointer) throws {
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_write(database, writeOptions, batch, &error)
    try Self.check(error)
  }
}

private final class RocksDBReader: EngineReader {
  private let engine: RocksDBEngine
  private let key = SpacedKey()

  init(_ engine: RocksDBEngine) { self.engine = engine }

  func refresh() {}

  func read(_ rowKey: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    key.set(.row, rowKey)
    return try engine.read(key, into: value)
  }

  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws {
    try iterate { iterator in
      if let start { key.set(.row, start) } else { key.setStart(of: .row) }
      rocksdb_iter_seek(iterator, key.chars, start == nil ? 1 : SpacedKey.rowKeyByteCount)
      while rocksdb_iter_valid(iterator) != 0, visit(iterator, body) { rocksdb_iter_next(iterator) }
    }
  }

  func scanBackwards(_ body: RowVisitor) throws {
    try iterate { iterator in
      rocksdb_iter_seek_to_last(iterator)
      while rocksdb_iter_valid(iterator) != 0, visit(iterator, body) { rocksdb_iter_prev(iterator) }
    }
  }

  func scanOutbox(_ body: (UInt64, UnsafeRawBufferPointer) -> Void) throws {
    try iterate { iterator in
      key.setStart(of: .outbox)
      rocksdb_iter_seek(iterator, key.chars, 1)
      while rocksdb_iter_valid(iterator) != 0 {
        var keyCount = 0
        var count = 0
        guard let found = rocksdb_iter_key(iterator, &keyCount), let value = rocksdb_iter_value(iterator, &count),
          UInt8(bitPattern: found[0]) == SpacedKey.Space.outbox.rawValue
        else { return }
        body(
          SpacedKey.sequence(UnsafeRawPointer(found)),
          OutboxEntry.change(UnsafeRawBufferPointer(start: value, count: count)))
        rocksdb_iter_next(iterator)
      }
    }
  }

  func close() {}

  private func iterate(_ body: (OpaquePointer) -> Void) throws {
    let iterator = rocksdb_create_iterator(engine.database, engine.readOptions)!
    defer { rocksdb_iter_destroy(iterator) }
    body(iterator)
    var error: UnsafeMutablePointer<CChar>?
    rocksdb_iter_get_error(iterator, &error)
    try RocksDBEngine.check(error)
  }

  @inline(__always)
  private func visit(_ iterator: OpaquePointer, _ body: RowVisitor) -> Bool {
    var keyCount = 0
    var count = 0
    guard let found = rocksdb_iter_key(iterator, &keyCount), let value = rocksdb_iter_value(iterator, &count),
      UInt8(bitPattern: found[0]) == SpacedKey.Space.row.rawValue
    else { return false }
    return body(UnsafeRawPointer(found + 1), UnsafeRawBufferPointer(start: value, count: count))
  }
}

private final class RocksDBTransaction: EngineTransaction {
  private let engine: RocksDBEngine
  let batch = rocksdb_writebatch_create()!
  private let key = SpacedKey()
  private let entry = UnsafeMutableRawPointer.allocate(byteCount: 2 * RowBytes.valueByteCountMax, alignment: 8)

  init(_ engine: RocksDBEngine) { self.engine = engine }

  deinit {
    rocksdb_writebatch_destroy(batch)
    entry.deallocate()
  }

  func put(_ row: UnsafeRawBufferPointer) {
    key.set(.row, row.baseAddress!)
    let value = RowBytes.value(row)
    rocksdb_writebatch_put(
      batch, key.chars, SpacedKey.rowKeyByteCount, value.baseAddress!.assumingMemoryBound(to: CChar.self), value.count)
  }

  func delete(_ rowKey: UnsafeRawPointer) {
    key.set(.row, rowKey)
    rocksdb_writebatch_delete(batch, key.chars, SpacedKey.rowKeyByteCount)
  }

  func read(_ rowKey: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int? {
    key.set(.row, rowKey)
    return try engine.read(key, into: value)
  }

  func putPending(_ rowKey: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) {
    let count = OutboxEntry.write(rowKey, change, to: entry)
    key.setOutbox(sequence)
    rocksdb_writebatch_put(
      batch, key.chars, SpacedKey.outboxKeyByteCount, entry.assumingMemoryBound(to: CChar.self), count)
    key.set(.pending, rowKey)
    withUnsafeBytes(of: sequence) { bytes in
      rocksdb_writebatch_put(
        batch, key.chars, SpacedKey.rowKeyByteCount, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count
      )
    }
  }

  func pending(_ rowKey: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange? {
    key.set(.pending, rowKey)
    guard try engine.read(key, into: entry) != nil else { return nil }
    let sequence = entry.load(as: UInt64.self)
    key.setOutbox(sequence)
    var error: UnsafeMutablePointer<CChar>?
    let slice = rocksdb_get_pinned(
      engine.database, engine.readOptions, key.chars, SpacedKey.outboxKeyByteCount, &error)
    try RocksDBEngine.check(error)
    guard let count = RocksDBEngine.copy(slice, into: entry) else { return nil }
    let bytes = OutboxEntry.change(UnsafeRawBufferPointer(start: entry, count: count))
    change.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    return PendingChange(sequence: sequence, byteCount: bytes.count)
  }
}
