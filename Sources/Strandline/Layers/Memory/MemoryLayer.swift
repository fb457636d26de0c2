@_spi(Engine) internal import StrandlineLog

/// The newest layer of a stack: versions of keys in memory, as commits put them there.
///
/// A hash table points to each key's newest version, and each version to the next older one. One thread writes; any number of others
/// read beside it without locks and without ever waiting for it. What they see follows from the sequence number they ask for: who
/// reads publishes and acquires that number elsewhere, and every version put before is seen.
///
/// Nothing moves and nothing is freed while the layer is held: neither records nor outgrown tables.
final class MemoryLayer: @unchecked Sendable {
  // Sendable: all that changes lies in raw memory behind `let` pointers. `table`, `arena` and `counters` are written by one thread
  // at a time and published by releasing stores; the sorted runs are behind a lock.
  /// Of ``KeyHash``.
  let seed: UInt64
  private let table: MemoryTable
  private let arena = MemoryArena()
  private let counters: Counters

  /// - Parameter expectedKeyCount: Keys that the table has room for at once. It grows beyond.
  init(seed: UInt64, expectedKeyCount: Int = 0) {
    self.seed = seed
    table = MemoryTable(expectedKeyCount: expectedKeyCount)
    counters = Counters(byteCount: arena.usedByteCount + table.byteCount)
  }

  // MARK: Reading, on any thread

  @inline(__always)
  func hash(of key: KeyView) -> UInt64 { KeyHash.of(key, seed: seed) }

  /// The newest version of the key at or below the sequence number; its value is copied into the buffer.
  func find(_ key: KeyView, hash: UInt64, at sequence: UInt64, into buffer: inout ValueBuffer) -> Finding {
    guard var record = table.newest(key, hash: hash) else { return .absent }
    while record.sequence > sequence {
      guard let previous = MemoryRecord(word: record.previous) else { return .absent }
      record = previous
    }
    guard let value = record.value else { return .deleted(sequence: record.sequence) }
    buffer.set(value)
    return .found(sequence: record.sequence)
  }

  /// Bytes of records and tables.
  var byteCount: Int { Int(counters[.byteCount]) }
  var versionCount: Int { Int(counters[.versionCount]) }
  var isEmpty: Bool { counters[.versionCount] == 0 }
  /// At or below every version's sequence number; nil before the first put.
  var firstSequence: UInt64? { counters[.wasPut] == 0 ? nil : counters[.firstSequence] }
  /// At or above every version's sequence number, and none that was taken back; nil before the first put.
  var lastSequence: UInt64? { counters[.wasPut] == 0 ? nil : counters[.lastSequence] }

  // MARK: Writing, by one thread at a time

  /// A put or delete for ``put(_:)``.
  struct Item {
    var key: KeyView
    var hash: UInt64
    var sequence: UInt64
    /// Nil: deleted.
    var value: UnsafeRawBufferPointer?
  }

  /// Puts the items in their order, fetching ahead what each will touch. For replay and large commits.
  func put(_ items: UnsafeBufferPointer<Item>) {
    let ahead = 16
    for index in items.indices.prefix(ahead) { table.prefetch(items[index].hash) }
    for index in items.indices {
      if index &+ ahead < items.count { table.prefetch(items[index &+ ahead].hash) }
      let item = items[index]
      add(item.key, hash: item.hash, sequence: item.sequence, value: item.value)
    }
    arena.publish()
    counters[.byteCount] = UInt64(arena.usedByteCount + table.byteCount)
  }

  /// Puts a version in front of the key's others; nil deletes the key. Key and value are copied.
  ///
  /// A key's sequence numbers never descend. A second version of one commit takes the first one's place.
  func put(_ key: KeyView, hash: UInt64, sequence: UInt64, value: UnsafeRawBufferPointer?) {
    add(key, hash: hash, sequence: sequence, value: value)
    arena.publish()
    counters[.byteCount] = UInt64(arena.usedByteCount + table.byteCount)
  }

  @inline(__always)
  private func add(_ key: KeyView, hash: UInt64, sequence: UInt64, value: UnsafeRawBufferPointer?) {
    let valueByteCount = value?.count ?? 0
    precondition(
      key.bytes.count <= MemoryRecord.keyByteCountMax && valueByteCount <= MemoryRecord.valueByteCountMax,
      "the caller checks keys and values against StoreLimits")
    let found = table.slot(for: key, hash: hash)
    var previous: UInt64 = 0
    var replaced: MemoryRecord?
    if found.ref != MemoryTable.noVersion, let newest = MemoryRecord(word: found.ref) {
      precondition(newest.sequence <= sequence, "versions of a key are put in the order of their commits")
      previous = found.ref
      if newest.sequence == sequence {
        previous = newest.previous
        replaced = newest
      }
    }
    let address = arena.take(MemoryRecord.byteCount(key: key.bytes.count, value: valueByteCount))
    MemoryRecord.fill(address, key: key, sequence: sequence, value: value, previous: previous)
    table.publish(MemoryRecord(address), in: found, hash: hash)
    if let replaced { replaced.withdraw() } else { counters[.versionCount] &+= 1 }
    counters.include(sequence)
  }

  /// Takes the key's version of a commit that failed back. Nothing happens if the key's newest version is another commit's.
  ///
  /// Of several failed commits the newest goes first. The number may be used again by another commit.
  func removeNewest(_ key: KeyView, hash: UInt64, sequence: UInt64) {
    let found = table.slot(for: key, hash: hash)
    guard found.ref != MemoryTable.noVersion, let record = MemoryRecord(word: found.ref), record.sequence == sequence
    else { return }
    table.restore(record.previous, in: found.slot)
    record.withdraw()
    counters[.versionCount] &-= 1
    // All versions of this commit are being taken back, and no newer one is left.
    counters[.lastSequence] = min(counters[.lastSequence], sequence &- 1)
  }
}

/// Figures that the writer keeps and anyone may read.
private struct Counters: ~Copyable {
  enum Name: Int, CaseIterable { case byteCount, versionCount, wasPut, firstSequence, lastSequence }

  private let words: UnsafeMutableRawPointer

  init(byteCount: Int) {
    words = .allocate(byteCount: 64, alignment: 64)
    words.initializeMemory(as: UInt64.self, repeating: 0, count: 8)
    self[.byteCount] = UInt64(byteCount)
  }

  deinit { words.deallocate() }

  subscript(name: Name) -> UInt64 {
    @inline(__always) get { words.loadRelaxed(at: name.rawValue &* 8) }
    @inline(__always) nonmutating set { words.storeRelaxed(newValue, at: name.rawValue &* 8) }
  }

  @inline(__always)
  func include(_ sequence: UInt64) {
    if self[.wasPut] == 0 {
      self[.firstSequence] = sequence
      self[.lastSequence] = sequence
      self[.wasPut] = 1
    }
    if sequence < self[.firstSequence] { self[.firstSequence] = sequence }
    if sequence > self[.lastSequence] { self[.lastSequence] = sequence }
  }
}
