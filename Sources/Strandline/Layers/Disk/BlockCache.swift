internal import CStrandline
@_spi(Engine) internal import StrandlineLog

/// Decoded blocks of all layers of a store, in bounded memory.
///
/// Many shards, each with a lock of its own. A hit is answered under its shard's lock; nothing is read or decoded under one.
/// Which block goes is decided by CLOCK. While there is no room left, a block is taken in on its second miss, so that reads all
/// over a store larger than the cache do not wash out what is read often; what a scan goes through on its way takes room that nobody
/// has, and goes first. A cursor pins the block that it stands in.
final class BlockCache: Sendable {
  struct Statistics: Hashable, Sendable {
    var byteCountMax = 0
    var byteCount = 0
    var blockCount = 0
    var hitCount: UInt64 = 0
    var missCount: UInt64 = 0
    var evictedCount: UInt64 = 0
  }

  /// A block in the cache: this, and behind it the block's image with plain bodies.
  struct Frame {
    /// Of the layer: who finds the block there. Nil until the frame is taken in.
    var slot: Slots?
    var layerNumber: UInt64 = 0
    /// Of the whole frame.
    let byteCount: Int
    var wasUsed = false
    /// Whether it lies in a slab of the pool.
    let isPiece: Bool
    /// Cursors that stand in the block: it stays.
    var pinCount: UInt32 = 0

    /// Small, so that the image's numbers lie in the frame's first cache line.
    static let headerByteCount = 32

    init(byteCount: Int, isPiece: Bool) {
      self.byteCount = byteCount
      self.isPiece = isPiece
    }

    /// The frame of a slot's content.
    @inline(__always)
    static func image(_ frame: UnsafeMutablePointer<Frame>) -> UnsafeMutableRawPointer {
      UnsafeMutableRawPointer(frame) + headerByteCount
    }

    /// Of a frame for an image of so many bytes, and what may be touched behind it.
    static func byteCount(imageByteCount: Int) -> Int {
      headerByteCount + imageByteCount + BlockView.slackByteCount
    }

    /// Fetches what a search of the block will touch first, of a frame that may be gone by now.
    @inline(__always)
    static func prefetch(_ address: UInt) {
      guard let frame = UnsafeRawPointer(bitPattern: address) else { return }
      // Numbers, heads, ends and sequence numbers of some 25 rows.
      for line in 0..<5 { strandline_prefetch(frame + 64 &* line) }
    }
  }

  /// One word for each block of a layer: 0 nothing, 1 missed once, else the frame. Guarded by the lock of the block's shard; read without
  /// it for a hint of what to fetch, and so written atomically.
  typealias Slots = UnsafeMutablePointer<UInt>
  static let missedOnce: UInt = 1

  @inline(__always)
  static func set(_ slot: Slots, _ content: UInt) { UnsafeMutableRawPointer(slot).storeRelaxed(UInt64(content)) }

  @inline(__always)
  static func hint(_ slot: Slots) -> UInt { UInt(UnsafeMutableRawPointer(slot).loadRelaxed()) }

  /// What one lock guards.
  struct Shard: ~Copyable {
    var byteCountMax: Int
    var byteCount = 0
    var frames: [UnsafeMutablePointer<Frame>] = []
    var hand = 0
    var hitCount: UInt64 = 0
    var missCount: UInt64 = 0
    var evictedCount: UInt64 = 0

    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Whether the next frame takes another one's place.
    var isScarce: Bool { byteCount > byteCountMax - byteCountMax / 8 }

    /// Takes a frame in and puts those that must go into `victims`; false if it is too large for the shard, or all others are pinned.
    mutating func insert(
      _ frame: UnsafeMutablePointer<Frame>, at slot: Slots, layerNumber: UInt64,
      victims: inout [UnsafeMutablePointer<Frame>]
    ) -> Bool {
      let needed = frame.pointee.byteCount
      guard needed <= byteCountMax else { return false }
      // Whoever is passed over twice is pinned.
      var patience = 2 * frames.count
      while byteCount + needed > byteCountMax {
        if hand >= frames.count { hand = 0 }
        let candidate = frames[hand]
        if candidate.pointee.wasUsed || candidate.pointee.pinCount > 0 {
          guard patience > 0 else { return false }
          patience -= 1
          candidate.pointee.wasUsed = false
          hand += 1
        } else {
          remove(at: hand)
          if let slot = candidate.pointee.slot { BlockCache.set(slot, 0) }
          evictedCount += 1
          victims.append(candidate)
        }
      }
      frame.pointee.slot = slot
      frame.pointee.layerNumber = layerNumber
      BlockCache.set(slot, UInt(bitPattern: frame))
      byteCount += needed
      frames.append(frame)
      return true
    }

    private mutating func remove(at index: Int) {
      byteCount -= frames[index].pointee.byteCount
      frames.swapAt(index, frames.count - 1)
      frames.removeLast()
    }

    mutating func removeAll(ofLayer number: UInt64, victims: inout [UnsafeMutablePointer<Frame>]) {
      var index = 0
      while index < frames.count {
        if frames[index].pointee.layerNumber == number {
          victims.append(frames[index])
          remove(at: index)
        } else {
          index += 1
        }
      }
    }
  }

  let byteCountMax: Int
  let frames: FramePool
  nonisolated(unsafe) private let shards: UnsafeMutablePointer<Lock<Shard>>
  private let shardCount: Int
  private let layerCount = Lock<UInt64>(0)

  private static let shardCountMax = 64

  /// - Parameter byteCountMax: of decoded blocks, all layers together. Below 16 KiB nothing is kept.
  init(byteCountMax: Int) {
    self.byteCountMax = byteCountMax
    frames = FramePool(byteCountMax: byteCountMax)
    var count = Self.shardCountMax
    // A shard that holds a few blocks only would be full while others are empty.
    while count > 1, byteCountMax / count < 256 << 10 { count /= 2 }
    shardCount = count
    shards = .allocate(capacity: count)
    for index in 0..<count { (shards + index).initialize(to: Lock(Shard(byteCountMax: byteCountMax / count))) }
  }

  deinit {
    // Every layer holds the cache and has taken its frames out before it let go.
    shards.deinitialize(count: shardCount)
    shards.deallocate()
  }

  /// A number for a layer whose blocks the cache will hold.
  func addLayer() -> UInt64 {
    layerCount.withLock { count in
      count += 1
      return count
    }
  }

  /// Runs `body` under the lock that guards a block's slot.
  @inline(__always)
  func withShard<Result>(
    ofBlock block: Int, _ layerNumber: UInt64, _ body: (inout Shard) -> Result
  ) -> Result {
    let index = (block &+ Int(truncatingIfNeeded: layerNumber &* 7)) & (shardCount &- 1)
    let lock = shards + index
    return lock.pointee.withLock { (shard) in body(&shard) }
  }

  /// Frees a layer's frames; its slots are the caller's to free then.
  func removeLayer(_ number: UInt64) {
    for index in 0..<shardCount {
      var victims: [UnsafeMutablePointer<Frame>] = []
      shards[index].withLock { $0.removeAll(ofLayer: number, victims: &victims) }
      for frame in victims { frames.free(frame) }
    }
  }

  var statistics: Statistics {
    var sum = Statistics(byteCountMax: byteCountMax)
    for index in 0..<shardCount {
      shards[index].withLock { shard in
        sum.byteCount += shard.byteCount
        sum.blockCount += shard.frames.count
        sum.hitCount += shard.hitCount
        sum.missCount += shard.missCount
        sum.evictedCount += shard.evictedCount
      }
    }
    return sum
  }
}
