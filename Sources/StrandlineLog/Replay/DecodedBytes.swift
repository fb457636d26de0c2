internal import Glibc

/// Memory that holds decoded payloads. Freed with its last reference.
///
/// Lies on huge pages where the system has them: a first touch of 4 KiB pages costs more than decoding into them.
public final class DecodedBytes: @unchecked Sendable {
  private static let hugePageByteCount = 2 << 20

  private let base: UnsafeMutableRawPointer
  private(set) var capacity: Int
  /// Set once, by the replay that fills the memory, before anyone else sees it.
  var count = 0

  init(capacity: Int) {
    self.capacity = max(8, capacity)
    if capacity >= Self.hugePageByteCount / 2 {
      self.capacity = (capacity + Self.hugePageByteCount - 1) / Self.hugePageByteCount * Self.hugePageByteCount
      base = .allocate(byteCount: self.capacity, alignment: Self.hugePageByteCount)
      madvise(base, self.capacity, MADV_HUGEPAGE)
    } else {
      base = .allocate(byteCount: self.capacity, alignment: 8)
    }
  }

  deinit { base.deallocate() }

  /// Valid while this object is held.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  var room: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: capacity) }
}
