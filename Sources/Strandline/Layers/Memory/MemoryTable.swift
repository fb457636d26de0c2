internal import CStrandline

/// A hash table from keys to their newest version, in 16 parts that grow one by one.
///
/// One thread changes it; others may look keys up beside it, without locks. See ``MemoryLayer``.
struct MemoryTable: ~Copyable {
  // HOT PATH: once per point read and once per put. Evidence: Docs/Benchmarks.md, "read.random.hot", "load.1M".
  //
  // A part's root is one word: the address of its slots' memory, whose low six bits are the binary logarithm of the slot count. Four
  // slots share a cache line and are filled from the first on; a search looks at the four together, since a branch on each would be
  // foretold wrongly too often, and goes to the next line only if the last of the four is taken.
  //
  //   byte 0               8      64               80
  //        +---------------+- - - +----------------+----------------+- - -
  //        | outgrown root |      | hash    | ref  | hash    | ref  |
  //        +---------------+- - - +----------------+----------------+- - -
  //
  // `ref` zero: a free slot. `ref` one: the slot is the hash's, but no version is left. Else the address of the newest version. The
  // writer fills the record, then the slot's hash, which never changes again, then publishes `ref`. A part grows by filling new memory
  // and publishing its root; readers may go on in the outgrown memory, which is kept until the table goes.
  private static let partCount = 16
  private static let headerByteCount = 64
  private static let slotByteCount = 16
  private static let lineByteCount = 64
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

  /// Where the slots of a root lie, and what wraps an offset in them.
  @inline(__always)
  private static func slots(of root: UInt64) -> (base: UnsafeMutableRawPointer, mask: Int) {
    // The root is never zero.
    let base = UnsafeMutableRawPointer(word: root & ~logarithmMask).unsafelyUnwrapped + headerByteCount
    return (base, slotByteCount << Int(truncatingIfNeeded: root & logarithmMask) &- 1)
  }

  /// The offset of the line where a search for the hash begins.
  @inline(__always)
  private static func line(of hash: UInt64, _ mask: Int) -> Int {
    Int(truncatingIfNeeded: hash &* UInt64(lineByteCount)) & mask
  }

  /// Which of the line's four slots have the hash, as four bits. One of them may not be published yet.
  @inline(__always)
  private static func matches(_ line: UnsafeMutableRawPointer, _ hash: UInt64) -> UInt8 {
    (line.loadRelaxed() == hash ? 1 : 0) | (line.loadRelaxed(at: 16) == hash ? 2 : 0)
      | (line.loadRelaxed(at: 32) == hash ? 4 : 0) | (line.loadRelaxed(at: 48) == hash ? 8 : 0)
  }

  @inline(__always)
  private static func isFull(_ line: UnsafeMutableRawPointer) -> Bool { line.loadAcquiring(at: 56) != 0 }

  /// Fetches what a search for the hash will touch first.
  @inline(__always)
  func prefetch(_ hash: UInt64) {
    let (base, mask) = Self.slots(of: roots.loadAcquiring(at: Self.part(of: hash) &* 8))
    strandline_prefetch(base + Self.line(of: hash, mask))
  }

  /// The key's newest version. Any thread.
  @inline(__always)
  func newest(_ key: KeyView, hash: UInt64) -> MemoryRecord? {
    let (base, mask) = Self.slots(of: roots.loadAcquiring(at: Self.part(of: hash) &* 8))
    var offset = Self.line(of: hash, mask)
    while true {
      let line = base + offset
      var matches = Self.matches(line, hash)
      while matches != 0 {
        let ref = line.loadAcquiring(at: matches.trailingZeroBitCount &* Self.slotByteCount &+ 8)
        if ref > Self.noVersion, let record = MemoryRecord(word: ref), record.holds(key) { return record }
        matches &= matches &- 1
      }
      if !Self.isFull(line) { return nil }
      offset = (offset &+ Self.lineByteCount) & mask
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
      let (base, mask) = Self.slots(of: roots.loadRelaxed(at: part &* 8))
      var offset = Self.line(of: hash, mask)
      var vacant: UnsafeMutableRawPointer?
      while true {
        let line = base + offset
        var matches = Self.matches(line, hash)
        while matches != 0 {
          let slot = line + matches.trailingZeroBitCount &* Self.slotByteCount
          let ref = slot.loadRelaxed(at: 8)
          if ref == Self.noVersion {
            vacant = slot
          } else if let record = MemoryRecord(word: ref), record.holds(key) {
            return (slot, ref)
          }
          matches &= matches &- 1
        }
        if !Self.isFull(line) { break }
        offset = (offset &+ Self.lineByteCount) & mask
      }
      if let vacant { return (vacant, Self.noVersion) }
      if used[part].count < used[part].limit { return (Self.freeSlot(in: base + offset), 0) }
      grow(part)
    }
  }

  /// The first free slot of a line that is not full.
  @inline(__always)
  private static func freeSlot(in line: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let taken =
      (line.loadRelaxed(at: 8) != 0 ? 1 : 0) &+ (line.loadRelaxed(at: 24) != 0 ? 1 : 0)
      &+ (line.loadRelaxed(at: 40) != 0 ? 1 : 0)
    return line + taken &* slotByteCount
  }

  /// Publishes the record that was filled as the newest version of its key, in the slot found for it.
  @inline(__always)
  func publish(_ record: MemoryRecord, in found: (slot: UnsafeMutableRawPointer, ref: UInt64), hash: UInt64) {
    if found.ref == 0 {
      used[Self.part(of: hash)].count &+= 1
      found.slot.storeRelaxed(hash)
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
    let oldSlots = Self.slots(of: old).base
    let (base, mask) = Self.slots(of: root)
    var count = 0
    for index in 0..<1 << oldLogarithm {
      let slot = oldSlots + index &* Self.slotByteCount
      let ref = slot.loadRelaxed(at: 8)
      if ref <= Self.noVersion { continue }
      let hash = slot.loadRelaxed()
      var offset = Self.line(of: hash, mask)
      while Self.isFull(base + offset) { offset = (offset &+ Self.lineByteCount) & mask }
      let target = Self.freeSlot(in: base + offset)
      target.storeRelaxed(hash)
      target.storeRelaxed(ref, at: 8)
      count += 1
    }
    used[part] = (count, Self.limit(logarithm))
    roots.storeReleasing(root, at: part * 8)
  }
}
