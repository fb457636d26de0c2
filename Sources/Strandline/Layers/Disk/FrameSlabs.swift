internal import Glibc
@_spi(Engine) internal import StrandlineLog

/// Memory for the cache's frames, in slabs of 2 MiB on huge pages: a read touches half a dozen places of a frame, and with small pages
/// each of them misses the translation buffer too. Hot random reads were 1.5 times as fast for it.
///
/// A slab holds frames of one size. It goes back to the system with its last frame, unless it is the only one with room; so
/// frames that left a slab one by one may leave memory behind that the cache does not count.
final class FrameSlabs: Sendable {
  private struct Slab {
    /// Frames that came back, linked through their first word.
    var free: UnsafeMutableRawPointer?
    /// How many frames from the slab's beginning on were ever given out.
    var freshCount = 0
    var usedCount = 0
    let size: Int

    static let byteCount = 2 << 20
    static let headerByteCount = 128

    var frameCountMax: Int { (Self.byteCount - Self.headerByteCount) / size }
    var isFull: Bool { usedCount == frameCountMax }
  }

  private struct State {
    /// By size: slabs with room.
    var withRoom: [[UnsafeMutablePointer<Slab>]] = FrameSlabs.sizes.map { _ in [] }
  }

  /// Of small and of large blocks, with what a frame has around them.
  private static let sizes = [LayerFormat.smallBlockByteCount + 128, LayerFormat.largeBlockByteCount + 128]
  private static let hugePages: Int32 = 14  // MADV_HUGEPAGE

  private let state = Lock(State())

  /// How many bytes a frame of `byteCount` takes.
  static func roundedUp(_ byteCount: Int) -> Int { sizes.first { byteCount <= $0 } ?? byteCount }

  /// Memory for a frame, aligned to 64 bytes.
  func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
    guard let index = Self.sizes.firstIndex(where: { byteCount <= $0 }) else {
      return .allocate(byteCount: byteCount, alignment: 64)
    }
    return state.withLock { state in
      let slab = state.withRoom[index].last ?? Self.makeSlab(Self.sizes[index])
      if state.withRoom[index].isEmpty { state.withRoom[index].append(slab) }
      slab.pointee.usedCount += 1
      if slab.pointee.isFull { state.withRoom[index].removeLast() }
      if let frame = slab.pointee.free {
        slab.pointee.free = frame.load(as: UnsafeMutableRawPointer?.self)
        return frame
      }
      slab.pointee.freshCount += 1
      return UnsafeMutableRawPointer(slab) + Slab.headerByteCount + (slab.pointee.freshCount - 1) * slab.pointee.size
    }
  }

  /// Takes back what ``allocate(_:)`` gave for the same number of bytes.
  func free(_ frame: UnsafeMutableRawPointer, _ byteCount: Int) {
    guard let index = Self.sizes.firstIndex(where: { byteCount <= $0 }) else { return frame.deallocate() }
    let address = UInt(bitPattern: frame) & ~UInt(Slab.byteCount - 1)
    let slab = UnsafeMutablePointer<Slab>(bitPattern: address)!
    state.withLock { state in
      if slab.pointee.isFull { state.withRoom[index].append(slab) }
      slab.pointee.usedCount -= 1
      frame.storeBytes(of: slab.pointee.free, as: UnsafeMutableRawPointer?.self)
      slab.pointee.free = frame
      guard slab.pointee.usedCount == 0, state.withRoom[index].count > 1 else { return }
      state.withRoom[index].removeAll { $0 == slab }
      Glibc.free(slab)
    }
  }

  private static func makeSlab(_ size: Int) -> UnsafeMutablePointer<Slab> {
    guard let memory = aligned_alloc(Slab.byteCount, Slab.byteCount) else {
      preconditionFailure("no memory for \(Slab.byteCount) bytes of the block cache")
    }
    // A hint: where it is refused the pages are small.
    _ = madvise(memory, Slab.byteCount, hugePages)
    let slab = memory.bindMemory(to: Slab.self, capacity: 1)
    slab.initialize(to: Slab(free: nil, size: size))
    return slab
  }

  deinit {
    // Every frame is back: of each size one empty slab is left at most.
    state.withLock { state in
      for slabs in state.withRoom { for slab in slabs where slab.pointee.usedCount == 0 { Glibc.free(slab) } }
    }
  }
}
