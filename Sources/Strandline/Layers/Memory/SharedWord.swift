internal import Synchronization

// Words in raw memory that one thread writes while others read them. Each is an aligned u64 and stays where it is.

extension UnsafeMutableRawPointer {
  /// Sees all that was written before the value was published.
  @inline(__always)
  func loadAcquiring(at offset: Int = 0) -> UInt64 {
    (self + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .acquiring)
  }

  /// Publishes the value and all that was written before it.
  @inline(__always)
  func storeReleasing(_ value: UInt64, at offset: Int = 0) {
    (self + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value, ordering: .releasing)
  }

  @inline(__always)
  func loadRelaxed(at offset: Int = 0) -> UInt64 {
    (self + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(ordering: .relaxed)
  }

  @inline(__always)
  func storeRelaxed(_ value: UInt64, at offset: Int = 0) {
    (self + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.store(value, ordering: .relaxed)
  }
}

extension UnsafeMutableRawPointer {
  /// The address as a word that can be published; zero stands for none.
  @inline(__always)
  var word: UInt64 { UInt64(UInt(bitPattern: self)) }

  @inline(__always)
  init?(word: UInt64) { self.init(bitPattern: UInt(truncatingIfNeeded: word)) }
}
