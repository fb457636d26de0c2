internal import Glibc

extension DiskLayer {
  static func zeroedSlots(_ count: Int) -> BlockCache.Slots {
    guard let memory = calloc(max(1, count), MemoryLayout<UInt>.stride) else {
      preconditionFailure("no memory for the slots of \(count) blocks")
    }
    return memory.bindMemory(to: UInt.self, capacity: max(1, count))
  }

  static func freeSlots(_ slots: BlockCache.Slots) { free(slots) }
}
