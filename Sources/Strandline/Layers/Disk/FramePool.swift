@_spi(Engine) internal import StrandlineLog

/// Memory for the frames of a cache: huge pages, cut into pieces of one size for each size of block.
///
/// Of frames that lie all over a heap of small pages nearly every hit costs a walk of the page table, which takes longer than the hit.
/// The first frames of a cache lie on the heap all the same, and so do those that fill less than half a piece: a small store needs no
/// huge page.
final class FramePool: Sendable {
  private struct State: ~Copyable {
    var heapByteCount = 0
    var small = Slabs(pieceByteCount: FramePool.pieceByteCount(LayerFormat.smallBlockByteCount))
    var large = Slabs(pieceByteCount: FramePool.pieceByteCount(LayerFormat.largeBlockByteCount))
  }

  private let state = Lock(State())
  private let heapByteCountMax: Int
  private static let heapShare = 4 << 20

  /// - Parameter byteCountMax: of all frames at once.
  init(byteCountMax: Int) {
    heapByteCountMax = byteCountMax < 4 * Self.heapShare ? .max : Self.heapShare
  }

  /// What a frame of a whole block takes, in whole cache lines.
  private static func pieceByteCount(_ blockByteCount: Int) -> Int {
    (BlockCache.Frame.byteCount(imageByteCount: blockByteCount) + 63) & ~63
  }

  /// An unfilled frame.
  func allocate(imageByteCount: Int) -> UnsafeMutablePointer<BlockCache.Frame> {
    let byteCount = BlockCache.Frame.byteCount(imageByteCount: imageByteCount)
    let piece: (memory: UnsafeMutableRawPointer, byteCount: Int)? = state.withLock { state in
      if state.heapByteCount + byteCount > heapByteCountMax {
        if state.small.fits(byteCount) { return (state.small.take(), state.small.pieceByteCount) }
        if state.large.fits(byteCount) { return (state.large.take(), state.large.pieceByteCount) }
      }
      state.heapByteCount += byteCount
      return nil
    }
    let memory = piece?.memory ?? .allocate(byteCount: byteCount, alignment: 64)
    let frame = memory.bindMemory(to: BlockCache.Frame.self, capacity: 1)
    frame.initialize(to: BlockCache.Frame(byteCount: piece?.byteCount ?? byteCount, isPiece: piece != nil))
    return frame
  }

  func free(_ frame: UnsafeMutablePointer<BlockCache.Frame>) {
    let memory = UnsafeMutableRawPointer(frame)
    let byteCount = frame.pointee.byteCount
    let isPiece = frame.pointee.isPiece
    state.withLock { state in
      if !isPiece {
        state.heapByteCount -= byteCount
      } else if byteCount == state.small.pieceByteCount {
        state.small.giveBack(memory)
      } else {
        state.large.giveBack(memory)
      }
    }
    if !isPiece { memory.deallocate() }
  }
}

/// Huge pages cut into pieces of one size. One that has no piece in use any more goes back to the system, but for the last.
private struct Slabs: ~Copyable {
  // A slab, aligned to its size:
  //
  //   byte 0      8      16       64
  //        +------+------+- - - - +-------+-------+- - -
  //        | free | used | cut to |       | piece | piece |
  //        +------+------+- - - - +-------+-------+- - -
  //
  // `free` is the first of the pieces that were given back, zero for none; each begins with the address of the next.
  private static let byteCount = 2 << 20
  private static let headerByteCount = 64
  private static let usedOffset = 8
  private static let endOffset = 16

  let pieceByteCount: Int
  /// Slabs that have a piece left.
  private var withRoom: [UnsafeMutableRawPointer] = []

  init(pieceByteCount: Int) { self.pieceByteCount = pieceByteCount }

  deinit {
    // All pieces are back: so all slabs are here.
    for slab in withRoom { LayerMemory(at: slab, byteCount: Self.byteCount).giveBack() }
  }

  func fits(_ byteCount: Int) -> Bool { byteCount <= pieceByteCount && byteCount > pieceByteCount / 2 }

  mutating func take() -> UnsafeMutableRawPointer {
    let slab = withRoom.last ?? addSlab()
    slab.storeBytes(of: used(slab) + 1, toByteOffset: Self.usedOffset, as: Int.self)
    let piece: UnsafeMutableRawPointer
    if let free = UnsafeMutableRawPointer(word: slab.load(as: UInt64.self)) {
      piece = free
      slab.storeBytes(of: free.load(as: UInt64.self), as: UInt64.self)
    } else {
      let end = slab.load(fromByteOffset: Self.endOffset, as: Int.self)
      piece = slab + end
      slab.storeBytes(of: end + pieceByteCount, toByteOffset: Self.endOffset, as: Int.self)
    }
    if isFull(slab) { withRoom.removeLast() }
    return piece
  }

  mutating func giveBack(_ piece: UnsafeMutableRawPointer) {
    let slab = piece.alignedDown(toMultipleOf: Self.byteCount)
    if isFull(slab) { withRoom.append(slab) }
    piece.storeBytes(of: slab.load(as: UInt64.self), as: UInt64.self)
    slab.storeBytes(of: piece.word, as: UInt64.self)
    slab.storeBytes(of: used(slab) - 1, toByteOffset: Self.usedOffset, as: Int.self)
    guard used(slab) == 0, withRoom.count > 1, let index = withRoom.firstIndex(of: slab) else { return }
    withRoom.remove(at: index)
    LayerMemory(at: slab, byteCount: Self.byteCount).giveBack()
  }

  private func used(_ slab: UnsafeMutableRawPointer) -> Int { slab.load(fromByteOffset: Self.usedOffset, as: Int.self) }

  private func isFull(_ slab: UnsafeMutableRawPointer) -> Bool {
    slab.load(as: UInt64.self) == 0
      && slab.load(fromByteOffset: Self.endOffset, as: Int.self) + pieceByteCount > Self.byteCount
  }

  private mutating func addSlab() -> UnsafeMutableRawPointer {
    let slab = LayerMemory(byteCount: Self.byteCount).base
    slab.storeBytes(of: Self.headerByteCount, toByteOffset: Self.endOffset, as: Int.self)
    withRoom.append(slab)
    return slab
  }
}
