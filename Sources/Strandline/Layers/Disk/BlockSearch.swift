internal import CStrandline
internal import Glibc

// HOT PATH: once per point read and seek. Evidence: Docs/Benchmarks.md, "read.random.hot".

extension BlockView {
  /// Where a key is in a block, or would be.
  struct Place {
    /// The first version whose key is at or behind the one looked for; `count` if there is none.
    var index: Int
    /// Whether that version has the key.
    var isFound: Bool
  }

  /// The first version at or behind `key`, whose prefix is the block's.
  @inline(__always)
  func place(of key: UnsafeRawBufferPointer) -> Place {
    let shared = sharedByteCount
    if shared > 0 {
      let order = compareShared(key)
      if order != 0 { return Place(index: order < 0 ? 0 : count, isFound: false) }
    }
    let head = keyHead(key, from: shared)
    let heads = keys + Self.headsOffset
    // Branch-free: the number of heads below ours.
    var below = 0
    var length = count
    while length > 1 {
      let half = length &>> 1
      let middle = heads.loadUnaligned(fromByteOffset: 8 &* (below &+ half &- 1), as: UInt64.self).littleEndian
      below = middle < head ? below &+ half : below
      length &-= half
    }
    if length == 1, self.head(below) < head { below &+= 1 }
    while below < count, self.head(below) == head {
      let order = compareBehindHead(below, key)
      if order >= 0 { return Place(index: below, isFound: order == 0) }
      below &+= 1
    }
    return Place(index: below, isFound: false)
  }

  /// Whether a version has the key, whose shared bytes and head were found equal before.
  @inline(__always)
  func hasKey(_ index: Int, _ key: UnsafeRawBufferPointer, head: UInt64) -> Bool {
    self.head(index) == head && compareBehindHead(index, key) == 0
  }

  @inline(__always)
  private func compareShared(_ key: UnsafeRawBufferPointer) -> Int {
    if sharedByteCount <= 8, key.count >= 8 {
      // Behind the shared bytes there is something to read.
      let unused = UInt64(truncatingIfNeeded: 64 &- 8 &* sharedByteCount)
      let one = UInt64(bigEndian: key.loadUnaligned(as: UInt64.self)) &>> unused
      let other = UInt64(bigEndian: keys.loadUnaligned(fromByteOffset: sharedOffset, as: UInt64.self)) &>> unused
      return one == other ? 0 : one < other ? -1 : 1
    }
    return compareLongShared(key)
  }

  @inline(never)
  private func compareLongShared(_ key: UnsafeRawBufferPointer) -> Int {
    let length = min(key.count, sharedByteCount)
    let order = length == 0 ? 0 : Int(memcmp(key.baseAddress!, keys + sharedOffset, length))
    if order != 0 { return order }
    return key.count < sharedByteCount ? -1 : 0
  }

  /// Order of a version's key and `key`, which agree up to the end of the head.
  @inline(__always)
  private func compareBehindHead(_ index: Int, _ key: UnsafeRawBufferPointer) -> Int {
    let body = body(index)
    let offset = sharedByteCount &+ 8
    let rest = key.count &- offset
    if rest > 0, rest <= 8, body.rest.count == rest, let base = body.rest.baseAddress {
      // The key has its head in front of the rest, and behind the bodies there is slack.
      let unused = UInt64(truncatingIfNeeded: 64 &- 8 &* rest)
      let one = UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) &>> unused
      let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count &- 8, as: UInt64.self))
      let other = last & (UInt64.max &>> unused)
      return one == other ? 0 : one < other ? -1 : 1
    }
    let length = min(rest, body.rest.count)
    if length > 0 {
      let order = memcmp(body.rest.baseAddress!, key.baseAddress! + offset, length)
      if order != 0 { return Int(order) }
    }
    return body.keyByteCount &- key.count
  }
}
