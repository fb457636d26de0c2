internal import CReference

/// The C reference's table in Swift: 16-byte keys to places, linear probing, 24-byte slots, load at most 0.6, huge
/// pages.
///
/// HOT PATH: once per row on recovery. Evidence: Docs/Benchmarks.md, "recovery.1M.1thread".
struct KeyTable: ~Copyable {
  struct Slot {
    var key: (UInt64, UInt64)
    /// 0: empty.
    var place: UInt64
  }

  private static let prefetchDistance = 16

  private let slots: UnsafeMutablePointer<Slot>
  private let mask: Int
  private let shift: UInt64
  private(set) var count = 0

  init(expecting expected: Int) {
    var capacity = 1024
    while capacity * 6 / 10 < expected { capacity <<= 1 }
    slots = reference_map(capacity * MemoryLayout<Slot>.stride).assumingMemoryBound(to: Slot.self)
    mask = capacity - 1
    shift = UInt64(capacity.leadingZeroBitCount + 1)
  }

  deinit { reference_unmap(slots, (mask + 1) * MemoryLayout<Slot>.stride) }

  /// Puts every entry in, in order; of two places of one key the later counts.
  mutating func insert(_ entries: UnsafeBufferPointer<Slot>) {
    let ahead = min(entries.count, Self.prefetchDistance)
    for index in 0..<ahead { reference_prefetch(slots + home(entries[index].key)) }
    for index in 0..<entries.count {
      if index &+ ahead < entries.count { reference_prefetch(slots + home(entries[index &+ ahead].key)) }
      insert(entries[index])
    }
  }

  @inline(__always)
  private func home(_ key: (UInt64, UInt64)) -> Int {
    Int(truncatingIfNeeded: ((key.0 ^ key.1) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  @inline(__always)
  private mutating func insert(_ entry: Slot) {
    var index = home(entry.key)
    while true {
      let slot = slots + index
      if slot.pointee.place == 0 {
        slot.pointee = entry
        count &+= 1
        return
      }
      if slot.pointee.key == entry.key {
        slot.pointee.place = entry.place
        return
      }
      index = (index &+ 1) & mask
    }
  }

  mutating func removeAll() {
    slots.update(repeating: Slot(key: (0, 0), place: 0), count: mask + 1)
    count = 0
  }

  /// Calls `body` with every place, in no order.
  func forEachPlace(_ body: (UInt64) -> Void) {
    for index in 0...mask where slots[index].place != 0 { body(slots[index].place) }
  }
}
