/// Where a memory layer's records lie, in the order in which they were put: chunks that never move, each linked to the next.
///
/// One thread appends. Others may walk what was published, beside it.
struct MemoryArena: ~Copyable {
  // A chunk:
  //
  //   byte 0      8     16            64
  //        +------+-----+-----+- - - -+---------+---------+- - -
  //        | next | end | size|       | record  | record  |
  //        +------+-----+-----+- - - -+---------+---------+- - -
  //
  // `end` is where the published records end, counted from the chunk's start. A chunk with a `next` gets no more records.
  private static let endOffset = 8
  private static let sizeOffset = 16
  private static let headerByteCount = 64
  private static let chunkByteCountMin = 64 << 10
  static let chunkByteCountMax = 4 << 20

  private struct WriterState {
    var chunk: UnsafeMutableRawPointer
    var chunkByteCount: Int
    var used: Int
    var usedBefore: Int
  }

  private let first: UnsafeMutableRawPointer
  private let pool: ChunkPool?
  private let state: UnsafeMutablePointer<WriterState>

  /// - Parameter pool: where chunks of ``chunkByteCountMax`` come from and go to.
  init(pool: ChunkPool? = nil) {
    self.pool = pool
    first = Self.makeChunk(Self.chunkByteCountMin)
    state = .allocate(capacity: 1)
    state.initialize(
      to: WriterState(
        chunk: first, chunkByteCount: Self.chunkByteCountMin, used: Self.headerByteCount, usedBefore: 0))
  }

  deinit {
    var next = UnsafeMutableRawPointer(word: first.word)
    while let chunk = next {
      next = UnsafeMutableRawPointer(word: chunk.loadRelaxed())
      let byteCount = chunk.load(fromByteOffset: Self.sizeOffset, as: Int.self)
      if byteCount == Self.chunkByteCountMax, let pool, pool.give(chunk) { continue }
      LayerMemory(at: chunk, byteCount: byteCount).giveBack()
    }
    state.deallocate()
  }

  private static func makeChunk(_ byteCount: Int, in memory: UnsafeMutableRawPointer? = nil) -> UnsafeMutableRawPointer
  {
    let chunk = memory ?? LayerMemory(byteCount: byteCount).base
    chunk.storeRelaxed(0)
    chunk.storeBytes(of: byteCount, toByteOffset: sizeOffset, as: Int.self)
    chunk.storeRelaxed(UInt64(headerByteCount), at: endOffset)
    return chunk
  }

  // MARK: The writer

  /// The next `byteCount` bytes, a multiple of eight; not yet published.
  @inline(__always)
  func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
    if state.pointee.chunkByteCount &- state.pointee.used < byteCount { addChunk(for: byteCount) }
    let record = state.pointee.chunk + state.pointee.used
    state.pointee.used &+= byteCount
    return record
  }

  /// Shows what was taken to those who walk.
  @inline(__always)
  func publish() {
    state.pointee.chunk.storeReleasing(UInt64(truncatingIfNeeded: state.pointee.used), at: Self.endOffset)
  }

  /// What records take so far, for the writer.
  @inline(__always)
  var usedByteCount: Int { state.pointee.usedBefore &+ state.pointee.used }

  /// Behind what was taken so far, for the writer.
  var end: Place { Place(chunk: state.pointee.chunk, offset: state.pointee.used) }

  private func addChunk(for byteCount: Int) {
    let usual = min(max(state.pointee.chunkByteCount, Self.chunkByteCountMin) * 2, Self.chunkByteCountMax)
    var size = max(usual, byteCount + Self.headerByteCount)
    var memory: UnsafeMutableRawPointer?
    if size <= Self.chunkByteCountMax, let pooled = pool?.take() {
      memory = pooled
      size = Self.chunkByteCountMax
    }
    let chunk = Self.makeChunk(size, in: memory)
    // Final with the link: a batch may have put records here that were not published yet.
    publish()
    state.pointee.chunk.storeReleasing(chunk.word)
    state.pointee.usedBefore += state.pointee.used
    state.pointee.chunk = chunk
    state.pointee.chunkByteCount = size
    state.pointee.used = Self.headerByteCount
  }

  // MARK: Any thread

  /// A place between two records.
  struct Place {
    fileprivate var chunk: UnsafeMutableRawPointer
    fileprivate var offset: Int
  }

  var start: Place { Place(chunk: first, offset: Self.headerByteCount) }

  /// Calls `body` with each record published since `place`, in order, and moves `place` behind them.
  @inline(__always)
  func walk(from place: inout Place, _ body: (MemoryRecord) -> Void) {
    _ = advance(
      &place,
      while: { record in
        body(record)
        return true
      })
  }

  /// As ``walk(from:_:)``, until `body` answers false: `place` is in front of that record then, and the answer false.
  @inline(__always)
  func advance(_ place: inout Place, while body: (MemoryRecord) -> Bool) -> Bool {
    while true {
      // In this order: once there is a next chunk, this one's end is final.
      let next = UnsafeMutableRawPointer(word: place.chunk.loadAcquiring())
      let end = Int(truncatingIfNeeded: place.chunk.loadAcquiring(at: Self.endOffset))
      while place.offset < end {
        let record = MemoryRecord(place.chunk + place.offset)
        guard body(record) else { return false }
        place.offset &+= record.byteCount
      }
      guard let next else { return true }
      place = Place(chunk: next, offset: Self.headerByteCount)
    }
  }
}
