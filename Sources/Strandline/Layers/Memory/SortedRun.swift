internal import CStrandline

/// A version in a sorted run: its record, with the beginning of its key so that most comparisons touch nothing else.
struct SortedEntry {
  /// The prefix and the first five bytes of the key, as a big-endian number; a short key is filled up with zeros.
  let high: UInt64
  /// The next eight bytes.
  let low: UInt64
  let record: MemoryRecord

  @inline(__always)
  init(_ record: MemoryRecord) {
    self.record = record
    (high, low) = record.key.heads
  }

  /// Keys ascending, of one key the newest first.
  @inline(__always)
  static func < (left: SortedEntry, right: SortedEntry) -> Bool {
    if left.high != right.high { return left.high < right.high }
    if left.low != right.low { return left.low < right.low }
    return isInFrontWithEqualHeads(left.record, right.record)
  }

  @inline(never)
  private static func isInFrontWithEqualHeads(_ left: MemoryRecord, _ right: MemoryRecord) -> Bool {
    let order = KeyView.compare(left.key.bytes, right.key.bytes)
    return order == 0 ? left.sequence > right.sequence : order < 0
  }
}

/// Versions of a memory layer in order: keys ascending, of one key the newest first. Never changes.
final class SortedRun: @unchecked Sendable {
  // Sendable: filled by whoever makes it, before others see it.
  let entries: UnsafeMutablePointer<SortedEntry>
  let count: Int
  private let memory: LayerMemory

  private init(_ memory: LayerMemory, count: Int) {
    self.memory = memory
    self.count = count
    entries = memory.base.assumingMemoryBound(to: SortedEntry.self)
  }

  deinit { memory.giveBack() }

  static func byteCount(_ count: Int) -> Int { max(1, count) * MemoryLayout<SortedEntry>.stride }

  /// What was put since `place`, in order; nil if nothing was.
  convenience init?(of arena: borrowing MemoryArena, from place: inout MemoryArena.Place, expectedCount: Int) {
    var memory = LayerMemory(byteCount: Self.byteCount(max(16, expectedCount)))
    var capacity = memory.byteCount / MemoryLayout<SortedEntry>.stride
    var entries = memory.base.assumingMemoryBound(to: SortedEntry.self)
    var count = 0
    arena.walk(from: &place) { record in
      if record.isWithdrawn { return }
      if count == capacity {
        let larger = LayerMemory(byteCount: Self.byteCount(count * 2))
        larger.base.copyMemory(from: memory.base, byteCount: Self.byteCount(count))
        memory.giveBack()
        memory = larger
        capacity = count * 2
        entries = memory.base.assumingMemoryBound(to: SortedEntry.self)
      }
      entries[count] = SortedEntry(record)
      count += 1
    }
    guard count > 0 else {
      memory.giveBack()
      return nil
    }
    SortedEntry.sort(UnsafeMutableBufferPointer(start: entries, count: count))
    self.init(memory, count: count)
  }

  /// Two runs in one.
  convenience init(merging one: SortedRun, _ other: SortedRun) {
    let memory = LayerMemory(byteCount: Self.byteCount(one.count + other.count))
    SortedEntry.merge(
      one.entries, one.count, other.entries, other.count, into: memory.base.assumingMemoryBound(to: SortedEntry.self))
    self.init(memory, count: one.count + other.count)
  }

  /// The number of entries whose keys come before `key`; `heads` are the key's.
  @inline(__always)
  func count(before key: KeyView, _ heads: (high: UInt64, low: UInt64)) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low &+ high) >> 1
      let entry = entries[middle]
      let isBefore: Bool
      if entry.high != heads.high {
        isBefore = entry.high < heads.high
      } else if entry.low != heads.low {
        isBefore = entry.low < heads.low
      } else {
        isBefore = KeyView.compare(entry.record.key.bytes, key.bytes) < 0
      }
      if isBefore { low = middle &+ 1 } else { high = middle }
    }
    return low
  }
}

/// The sorted runs of a memory layer, the largest first, and how far into the arena they reach.
///
/// Who wants order sorts what is new and leaves it for the next; runs alike in size become one. So a scan costs O(new · log new),
/// and at most a logarithmic number of runs stands beside each other.
struct SortedRuns {
  private(set) var runs: [SortedRun] = []
  private var place: MemoryArena.Place
  private var count = 0

  init(from place: MemoryArena.Place) { self.place = place }

  mutating func update(from arena: borrowing MemoryArena, versionCount: Int) {
    guard var fresh = SortedRun(of: arena, from: &place, expectedCount: versionCount - count) else { return }
    count += fresh.count
    while let last = runs.last, last.count / 4 <= fresh.count {
      fresh = SortedRun(merging: last, fresh)
      runs.removeLast()
    }
    runs.append(fresh)
  }

  var byteCount: Int { count * MemoryLayout<SortedEntry>.stride }
}
