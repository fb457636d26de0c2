internal import CStrandline

/// A hash table from keys to their newest version, in 16 parts that grow one by one.
///
/// One thread changes it; others may look keys up beside it, without locks. See ``MemoryLayer``.
struct MemoryTable: ~Copyable {
  // HOT PATH: once per point read and once per put. Evidence: Docs/Benchmarks.md, "read.random.hot", "load.1M".
  //
  // A part's root is one word: the address of its slots' memory, whose low six bits are the binary logarithm of the slot count.
  //
  //   byte 0               8      64               80
  //        +---------------+- - - +----------------+----------------+- - -
  //        | outgrown root |      | hash    | ref  | hash    | ref  |
  //        +---------------+- - - +----------------+----------------+- - -
  //
  // `ref` zero: a free slot, where a search ends. `ref` one: the slot is the hash's, but no version is left. Else the address of the
  // newest version. The writer fills the record, then the slot's hash, which never changes again, then publishes `ref`. A part grows
  // by filling new memory and publishing its root; readers may go on in the outgrown memory, which is kept until the table goes.
  private static let partCount = 16
  private static let headerByteCount = 64
  private static let slotByteCount = 16
  private static let logarithmMask: UInt64 = 63
  private static let logarithmMin = 5
  static let noVersion: UInt64 = 1

  private let roots: UnsafeMutableRawPointer
  /// Of each part, for the writer: slots that are not free, and how many may be.
  private let used: UnsafeMutablePointer<(count: Int, limit: Int)>
  private let totals: UnsafeMutablePointer<Int>

  init(expectedKeyCount: Int) {
    roots = .allocate(byteCount: Self.partCount * 8, alignment: 64)
    used = .allocate(capacity: Self.partCount)
    totals = .allocate(capacity: 1)
    totals.initialize(to: 0)
    // Keys do not fall into the parts quite evenly.
    let perPart = expectedKeyCount / Self.partCount
    let slotCount = (perPart + perPart / 16) * 10 / 7 + 1
    let logarithm = max(Self.logarithmMin, Int.bitWidth - (slotCount - 1).leadingZeroBitCount)
    for part in 0..<Self.partCount {
      roots.storeRelaxed(makeSlots(logarithm, outgrown: 0), at: part * 8)
      used[part] = (0, Self.limit(logarithm))
    }
  }

  deinit {
    for part in 0..<Self.partCount {
      var root = roots.loadRelaxed(at: part * 8)
      while let slots = UnsafeMutableRawPointer(word: root & ~Self.logarithmMask) {
        let byteCount = Self.byteCount(Int(root & Self.logarithmMask))
        root = slots.load(as: UInt64.self)
        LayerMemory(at: slots, byteCount: byteCount).giveBack()
      }
    }
    roots.deallocate()
    used.deallocate()
    totals.deallocate()
  }

  private static func byteCount(_ logarithm: Int) -> Int { headerByteCount + slotByteCount << logarithm }

  /// Load of at most 0.7.
  private static func limit(_ logarithm: Int) -> Int { (1 << logarithm) * 7 / 10 }

  private func makeSlots(_ logarithm: Int, outgrown: UInt64) -> UInt64 {
    let memory = LayerMemory(byteCount: Self.byteCount(logarithm))
    memory.base.storeBytes(of: outgrown, as: UInt64.self)
    totals.pointee += memory.byteCount
    return memory.base.word | UInt64(logarithm)
  }

  @inline(__always)
  private static func part(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 60) }

  /// Where a search for the hash begins, and the last slot's offset as a mask.
  @inline(__always)
  private static func start(_ root: UInt64, _ hash: UInt64) -> (slots: UnsafeMutableRawPointer, offset: Int, mask: Int)
  {
    // The root is never zero.
    let slots = UnsafeMutableRawPointer(word: root & ~logarithmMask).unsafelyUnwrapped + headerByteCount
    let mask = slotByteCount << Int(truncatingIfNeeded: root & logarithmMask) &- 1
    return (slots, Int(truncatingIfNeeded: hash &* UInt64(slotByteCount)) & mask, mask)
  }

  /// Fetches what a search for the hash will touch first.
  @inline(__always)
  func prefetch(_ hash: UInt64) {
    let (slots, offset, _) = Self.start(roots.loadAcquiring(at: Self.part(of: hash) &* 8), hash)
    strandline_prefetch(slots + offset)
  }

  /// The key's newest version. Any thread.
  @inline(__always)
  func newest(_ key: KeyView, hash: UInt64) -> MemoryRecord? {
    let start = Self.start(roots.loadAcquiring(at: Self.part(of: hash) &* 8), hash)
    var offset = start.offset
    while true {
      let slot = start.slots + offset
      let ref = slot.loadAcquiring(at: 8)
      if ref == 0 { return nil }
      if slot.load(as: UInt64.self) == hash, ref != Self.noVersion, let record = MemoryRecord(word: ref),
        record.holds(key)
      {
        return record
      }
      offset = (offset &+ Self.slotByteCount) & start.mask
    }
  }

  // MARK: The writer

  /// Memory of slots, outgrown ones included.
  @inline(__always)
  var byteCount: Int { totals.pointee }

  /// The key's slot, or one that can become it, and the word that stands there: zero, `noVersion` or the newest version.
  @inline(__always)
  func slot(for key: KeyView, hash: UInt64) -> (slot: UnsafeMutableRawPointer, ref: UInt64) {
    let part = Self.part(of: hash)
    while true {
      let start = Self.start(roots.loadRelaxed(at: part &* 8), hash)
      var offset = start.offset
      var vacant: UnsafeMutableRawPointer?
      while true {
        let slot = start.slots + offset
        let ref = slot.loadRelaxed(at: 8)
        if ref == 0 {
          if let vacant { return (vacant, Self.noVersion) }
          if used[part].count < used[part].limit { return (slot, 0) }
          break
        }
        if slot.load(as: UInt64.self) == hash {
          if ref == Self.noVersion {
            vacant = slot
          } else if let record = MemoryRecord(word: ref), record.holds(key) {
            return (slot, ref)
          }
        }
        offset = (offset &+ Self.slotByteCount) & start.mask
      }
      grow(part)
    }
  }

  /// Publishes the record that was filled as the newest version of its key, in the slot found for it.
  @inline(__always)
  func publish(_ record: MemoryRecord, in found: (slot: UnsafeMutableRawPointer, ref: UInt64), hash: UInt64) {
    if found.ref == 0 {
      used[Self.part(of: hash)].count &+= 1
      found.slot.storeBytes(of: hash, as: UInt64.self)
    }
    found.slot.storeReleasing(record.address.word, at: 8)
  }

  /// Publishes an older version, or none, as the newest one.
  func restore(_ previous: UInt64, in slot: UnsafeMutableRawPointer) {
    slot.storeReleasing(previous == 0 ? Self.noVersion : previous, at: 8)
  }

  private func grow(_ part: Int) {
    let old = roots.loadRelaxed(at: part * 8)
    let oldLogarithm = Int(old & Self.logarithmMask)
    let logarithm = oldLogarithm + 1
    let root = makeSlots(logarithm, outgrown: old)
    let oldSlots = Self.start(old, 0).slots
    var count = 0
    for index in 0..<1 << oldLogarithm {
      let slot = oldSlots + index &* Self.slotByteCount
      let ref = slot.loadRelaxed(at: 8)
      if ref == 0 || ref == Self.noVersion { continue }
      let hash = slot.load(as: UInt64.self)
      let target = Self.start(root, hash)
      var offset = target.offset
      while (target.slots + offset).loadRelaxed(at: 8) != 0 { offset = (offset &+ Self.slotByteCount) & target.mask }
      (target.slots + offset).storeBytes(of: hash, as: UInt64.self)
      (target.slots + offset).storeRelaxed(ref, at: 8)
      count += 1
    }
    used[part] = (count, Self.limit(logarithm))
    roots.storeReleasing(root, at: part * 8)
  }
}
