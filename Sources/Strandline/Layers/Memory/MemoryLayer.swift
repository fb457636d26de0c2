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
  private let arena: MemoryArena
  private let waiting = WaitingRecords()
  private let counters: Counters
  private let runs: Lock<SortedRuns>

  /// - Parameters:
  ///   - expectedKeyCount: Keys that the table has room for at once. It grows beyond.
  ///   - pool: Where the arena's memory comes from and goes to.
  init(seed: UInt64, expectedKeyCount: Int = 0, pool: ChunkPool? = nil) {
    self.seed = seed
    arena = MemoryArena(pool: pool)
    table = MemoryTable(expectedKeyCount: expectedKeyCount)
    counters = Counters(byteCount: arena.usedByteCount + table.byteCount)
    runs = Lock(SortedRuns(from: arena.start))
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

  /// A cursor over at least all versions that were put before.
  ///
  /// Sorts what was put since the last cursor was made, O(new · log new), and keeps it for the next. Waits for another thread that is
  /// doing so, never for the writer.
  func makeCursor() -> MemoryCursor {
    let sorted = runs.withLock { runs in
      runs.update(from: arena, versionCount: versionCount)
      return runs.runs
    }
    return MemoryCursor(self, sorted)
  }

  /// In front of everything that was put.
  var start: Mark { arena.start }

  /// Calls `body` with the key and the commit of each version put since `place`, in the order of the commits up to `sequence`, and moves
  /// `place` behind them. A version of a commit that failed may be among them.
  ///
  /// - Returns: false if it met a version of a later commit.
  func walk(from place: inout Mark, through sequence: UInt64, _ body: (KeyView, UInt64) -> Void) -> Bool {
    arena.advance(
      &place,
      while: { record in
        if record.isWithdrawn { return true }
        guard record.sequence <= sequence else { return false }
        body(record.key, record.sequence)
        return true
      })
  }

  /// What sorted runs take beside ``byteCount``.
  var sortedByteCount: Int { runs.withLock { $0.byteCount } }

  /// Bytes of records and tables.
  var byteCount: Int { Int(counters.get(.byteCount)) }
  var versionCount: Int { Int(counters.get(.versionCount)) }
  var isEmpty: Bool { counters.get(.versionCount) == 0 }
  /// At or below every version's sequence number; nil before the first put.
  var firstSequence: UInt64? { counters.get(.wasPut) == 0 ? nil : counters.get(.firstSequence) }
  /// At or above every version's sequence number, and none that was taken back; nil before the first put.
  var lastSequence: UInt64? { counters.get(.wasPut) == 0 ? nil : counters.get(.lastSequence) }

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
    settle()
    let ahead = 16
    for index in items.indices.prefix(ahead) { table.prefetch(items[index].hash) }
    for index in items.indices {
      if index &+ ahead < items.count { table.prefetch(items[index &+ ahead].hash) }
      let item = items[index]
      add(item.key, hash: item.hash, sequence: item.sequence, value: item.value)
    }
    arena.publish()
    counters.set(.byteCount, UInt64(arena.usedByteCount + table.byteCount))
  }

  /// Puts a version in front of the key's others; nil deletes the key. Key and value are copied.
  ///
  /// A key's sequence numbers never descend. A second version of one commit takes the first one's place.
  func put(_ key: KeyView, hash: UInt64, sequence: UInt64, value: UnsafeRawBufferPointer?) {
    settle()
    add(key, hash: hash, sequence: sequence, value: value)
    arena.publish()
    counters.set(.byteCount, UInt64(arena.usedByteCount + table.byteCount))
  }

  /// As ``put(_:hash:sequence:value:)``, but the table's memory is only asked for: the version is found from ``settle()`` on, if not
  /// before. So many puts in a row do not wait for one fetch after the other.
  func putSoon(_ key: KeyView, hash: UInt64, sequence: UInt64, value: UnsafeRawBufferPointer?) {
    table.prefetch(hash)
    let record = fill(key, sequence: sequence, value: value)
    if let (oldest, oldestHash) = waiting.push(record, hash: hash) { link(oldest, hash: oldestHash) }
  }

  /// Ends what ``putSoon(_:hash:sequence:value:)`` began. Called before anybody looks for what was put.
  func settle() {
    if waiting.isEmpty { return }
    while let (record, hash) = waiting.pop() { link(record, hash: hash) }
    arena.publish()
    counters.set(.byteCount, UInt64(arena.usedByteCount + table.byteCount))
  }

  @inline(__always)
  private func add(_ key: KeyView, hash: UInt64, sequence: UInt64, value: UnsafeRawBufferPointer?) {
    link(fill(key, sequence: sequence, value: value), hash: hash)
  }

  /// Copies key and value into the arena.
  @inline(__always)
  private func fill(_ key: KeyView, sequence: UInt64, value: UnsafeRawBufferPointer?) -> MemoryRecord {
    let valueByteCount = value?.count ?? 0
    precondition(
      key.bytes.count <= MemoryRecord.keyByteCountMax && valueByteCount <= MemoryRecord.valueByteCountMax,
      "the caller checks keys and values against StoreLimits")
    let address = arena.take(MemoryRecord.byteCount(key: key.bytes.count, value: valueByteCount))
    MemoryRecord.fill(address, key: key, sequence: sequence, value: value)
    return MemoryRecord(address)
  }

  /// Puts a filled record in front of its key's others.
  @inline(__always)
  private func link(_ record: MemoryRecord, hash: UInt64) {
    let sequence = record.sequence
    let found = table.slot(for: record.key, hash: hash)
    var replaced: MemoryRecord?
    if found.ref != MemoryTable.noVersion, let newest = MemoryRecord(word: found.ref) {
      precondition(newest.sequence <= sequence, "versions of a key are put in the order of their commits")
      if newest.sequence == sequence {
        record.setPrevious(newest.previous)
        replaced = newest
      } else {
        record.setPrevious(found.ref)
      }
    }
    table.publish(record, in: found, hash: hash)
    if let replaced { replaced.withdraw() } else { counters.set(.versionCount, counters.get(.versionCount) &+ 1) }
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
    counters.set(.versionCount, counters.get(.versionCount) &- 1)
    // All versions of this commit are being taken back, and no newer one is left.
    counters.set(.lastSequence, min(counters.get(.lastSequence), sequence &- 1))
  }
}

// MARK: Taking commits back

extension MemoryLayer {
  /// A moment between two puts.
  typealias Mark = MemoryArena.Place

  /// The moment behind what has been put so far. For the writer.
  var mark: Mark { arena.end }

  /// Takes back every version put since `mark`, which belong to one commit. For the writer.
  func rollBack(to mark: Mark) {
    var place = mark
    arena.walk(from: &place) { record in takeBack(record) }
  }

  /// Takes back every version of commit `sequence` and of those behind it. For the writer.
  ///
  /// - Complexity: O(versions in the layer).
  func removeVersions(from sequence: UInt64) {
    var records: [MemoryRecord] = []
    var place = arena.start
    arena.walk(from: &place) { record in if record.sequence >= sequence { records.append(record) } }
    // The newest first, so that each is its key's newest.
    for record in records.reversed() { takeBack(record) }
  }

  private func takeBack(_ record: MemoryRecord) {
    if record.isWithdrawn { return }
    let key = record.key
    removeNewest(key, hash: hash(of: key), sequence: record.sequence)
  }
}

/// Records that are filled and not in the table yet, oldest first. The writer's.
private struct WaitingRecords: ~Copyable {
  private static let countMax = 16

  private struct State {
    var first = 0
    var count = 0
  }

  private let records: UnsafeMutablePointer<(record: MemoryRecord, hash: UInt64)>
  private let state: UnsafeMutablePointer<State>

  init() {
    records = .allocate(capacity: Self.countMax)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    records.deallocate()
    state.deallocate()
  }

  @inline(__always)
  var isEmpty: Bool { state.pointee.count == 0 }

  /// Adds a record; answers the one that has to make room for it.
  @inline(__always)
  func push(_ record: MemoryRecord, hash: UInt64) -> (MemoryRecord, UInt64)? {
    let oldest = state.pointee.count == Self.countMax ? pop() : nil
    let place = (state.pointee.first &+ state.pointee.count) % Self.countMax
    (records + place).initialize(to: (record, hash))
    state.pointee.count &+= 1
    return oldest
  }

  @inline(__always)
  func pop() -> (MemoryRecord, UInt64)? {
    guard state.pointee.count > 0 else { return nil }
    let oldest = records[state.pointee.first]
    state.pointee.first = (state.pointee.first &+ 1) % Self.countMax
    state.pointee.count &-= 1
    return oldest
  }
}

/// Figures that the writer keeps and anyone may read.
private struct Counters: ~Copyable {
  enum Name: Int, CaseIterable { case byteCount, versionCount, wasPut, firstSequence, lastSequence }

  private let words: UnsafeMutableRawPointer

  init(byteCount: Int) {
    words = .allocate(byteCount: 64, alignment: 64)
    words.initializeMemory(as: UInt64.self, repeating: 0, count: 8)
    set(.byteCount, UInt64(byteCount))
  }

  deinit { words.deallocate() }

  @inline(__always)
  func get(_ name: Name) -> UInt64 { words.loadRelaxed(at: name.rawValue &* 8) }

  // No subscript: the thread sanitizer takes its setter for a change of the property that holds these counters.
  @inline(__always)
  func set(_ name: Name, _ value: UInt64) { words.storeRelaxed(value, at: name.rawValue &* 8) }

  @inline(__always)
  func include(_ sequence: UInt64) {
    if get(.wasPut) == 0 {
      set(.firstSequence, sequence)
      set(.lastSequence, sequence)
      set(.wasPut, 1)
    }
    if sequence < get(.firstSequence) { set(.firstSequence, sequence) }
    if sequence > get(.lastSequence) { set(.lastSequence, sequence) }
  }
}
