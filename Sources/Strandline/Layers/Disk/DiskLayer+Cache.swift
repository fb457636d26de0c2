internal import Glibc

/// A layer's blocks in the cache.
extension DiskLayer {
  static func zeroedSlots(_ count: Int) -> BlockCache.Slots {
    guard let memory = calloc(max(1, count), MemoryLayout<UInt>.stride) else {
      preconditionFailure("no memory for the slots of \(count) blocks")
    }
    return memory.bindMemory(to: UInt.self, capacity: max(1, count))
  }

  static func freeSlots(_ slots: BlockCache.Slots) { free(slots) }

  /// What a cursor gets that asks for a block.
  enum CursorLookup {
    /// Pinned: the cursor gives it back with ``unpin(_:ofBlock:)``.
    case hit(UnsafeMutablePointer<BlockCache.Frame>)
    case miss(takesIn: Bool)
  }

  /// - Parameter goesOn: whether the cursor comes from the neighbour. Such a block counts as little read, and is taken in only where
  ///   nothing has to go for it.
  func pin(_ block: Int, goesOn: Bool) -> CursorLookup {
    let slot = slots + block
    return cache.withShard(ofBlock: block, cacheNumber) { shard in
      let content = slot.pointee
      if content > BlockCache.missedOnce {
        let frame = UnsafeMutablePointer<BlockCache.Frame>(bitPattern: content)!
        frame.pointee.pinCount += 1
        if !goesOn { frame.pointee.wasUsed = true }
        shard.hitCount &+= 1
        return .hit(frame)
      }
      shard.missCount &+= 1
      if goesOn { return .miss(takesIn: !shard.isScarce) }
      BlockCache.set(slot, BlockCache.missedOnce)
      return .miss(takesIn: content == BlockCache.missedOnce || !shard.isScarce)
    }
  }

  func unpin(_ frame: UnsafeMutablePointer<BlockCache.Frame>, ofBlock block: Int) {
    cache.withShard(ofBlock: block, cacheNumber) { _ in frame.pointee.pinCount -= 1 }
  }

  /// Copies a decoded block into the cache. Nothing is copied or freed under the lock.
  func takeIn(_ view: BlockView, _ block: Int) {
    let keysByteCount = view.sharedOffset + view.sharedByteCount
    let bodiesByteCount = view.end(view.count - 1)
    let frame = cache.frames.allocate(imageByteCount: keysByteCount + bodiesByteCount)
    let image = BlockCache.Frame.image(frame)
    image.copyMemory(from: view.keys, byteCount: keysByteCount)
    (image + keysByteCount).copyMemory(from: view.bodies, byteCount: bodiesByteCount)
    var victims: [UnsafeMutablePointer<BlockCache.Frame>] = []
    let slot = slots + block
    let isIn = cache.withShard(ofBlock: block, cacheNumber) { shard in
      // Another reader may have been quicker.
      guard slot.pointee <= BlockCache.missedOnce else { return false }
      return shard.insert(frame, at: slot, layerNumber: cacheNumber, victims: &victims)
    }
    if !isIn { cache.frames.free(frame) }
    for victim in victims { cache.frames.free(victim) }
  }
}
