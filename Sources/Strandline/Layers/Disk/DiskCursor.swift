@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per version in a scan or merge. Evidence: Docs/Benchmarks.md, "scan.full".

/// Goes through a layer in order: block by block where the cache has them, else in memory of its own.
///
/// A failed call leaves the cursor without a current version; it may be placed anew.
final class DiskCursor: VersionCursor {
  private enum Place { case inFront, at, behind }

  private struct State {
    /// Only `at` has a current version.
    var place = Place.inFront
    var block = 0
    /// Whether ``block`` is open.
    var hasBlock = false
    /// The block, if it lies in the cache.
    var pinned: UnsafeMutablePointer<BlockCache.Frame>?
    /// Of the current version, in its block.
    var index = 0
    var keyByteCount = 0
    var sequence: UInt64 = 0
    var value = UnsafeRawBufferPointer(start: nil, count: 0)
    var isDelete = false
    var prefix = KeyPrefix(rawValue: 0)
    /// Blocks whose bytes are in the scratch's input.
    var readBlocks = 0..<0
    /// How many bytes the next read of neighbours takes.
    var readByteCount = 0
  }

  let layer: DiskLayer
  private let usesCache: Bool
  private let scratch: BlockScratch
  private let state: UnsafeMutablePointer<State>
  /// The block that the current version is in; set when there is one.
  private let view: UnsafeMutablePointer<BlockView>
  /// The current key is put together here.
  private let key: UnsafeMutableRawPointer

  /// A short scan reads one block; each read that goes on from it is twice as long, up to this.
  private static let readByteCountMax = 256 << 10

  init(_ layer: DiskLayer, usesCache: Bool) {
    self.layer = layer
    self.usesCache = usesCache
    scratch = layer.takeScratch()
    state = .allocate(capacity: 1)
    state.initialize(to: State())
    view = .allocate(capacity: 1)
    key = .allocate(byteCount: BlockView.keyRoomByteCount, alignment: 16)
  }

  deinit {
    closeBlock()
    key.deallocate()
    view.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
    layer.returnScratch(scratch)
  }

  @inline(__always)
  var current: VersionView? {
    guard state.pointee.place == .at else { return nil }
    return VersionView(
      key: KeyView(prefix: state.pointee.prefix, bytes: keyBytes), sequence: state.pointee.sequence,
      value: state.pointee.isDelete ? nil : state.pointee.value)
  }

  @inline(__always)
  private var keyBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: key, count: state.pointee.keyByteCount)
  }

  func seek(to target: KeyView) throws(StoreError) {
    state.pointee.place = .behind
    let run = layer.index.firstRun(from: target.prefix)
    guard run < layer.index.runCount else { return }
    let blocks = layer.index.blocks(ofRun: run)
    guard layer.index.prefix(ofRun: run) == target.prefix else { return try load(blocks.lowerBound, at: 0) }
    let block = layer.index.lastBlock(ofRun: run, notBehind: target.bytes, sequence: .max)
    guard block >= blocks.lowerBound else { return try load(blocks.lowerBound, at: 0) }
    try open(block)
    let place = view.pointee.place(of: target.bytes)
    if place.index < view.pointee.count {
      show(place.index)
    } else {
      try advanceToBlock(block + 1)
    }
  }

  func seekBack(before target: KeyView?) throws(StoreError) {
    if let target {
      try seek(to: target)
    } else {
      state.pointee.place = .behind
    }
    try retreat()
  }

  @inline(__always)
  func advance() throws(StoreError) {
    let next = state.pointee.index &+ 1
    if state.pointee.place == .at, next < view.pointee.count {
      show(next)
    } else {
      try advanceFromEnd()
    }
  }

  @inline(never)
  private func advanceFromEnd() throws(StoreError) {
    switch state.pointee.place {
    case .inFront: try advanceToBlock(0)
    case .at: try advanceToBlock(state.pointee.block + 1)
    case .behind: break
    }
  }

  /// To the first version of a block, or behind all.
  private func advanceToBlock(_ block: Int) throws(StoreError) {
    state.pointee.place = .behind
    if block < layer.index.blockCount { try load(block, at: 0) }
  }

  @inline(__always)
  func advancePastKey() throws(StoreError) {
    let index = state.pointee.index
    let next = index &+ 1
    if state.pointee.place == .at, next < view.pointee.count, view.pointee.head(next) != view.pointee.head(index) {
      show(next)
    } else {
      try advancePastEqualHeads()
    }
  }

  private func advancePastEqualHeads() throws(StoreError) {
    guard state.pointee.place == .at else { return try advanceFromEnd() }
    var next = state.pointee.index + 1
    while true {
      let head = keyHead(keyBytes, from: view.pointee.sharedByteCount)
      while next < view.pointee.count, view.pointee.hasKey(next, keyBytes, head: head) { next += 1 }
      if next < view.pointee.count { return show(next) }
      let block = state.pointee.block + 1
      guard block < layer.index.blockCount,
        layer.index.continues(block: block, prefix: state.pointee.prefix, key: keyBytes)
      else { return try advanceToBlock(block) }
      // The shared bytes that come into the key are those that it has.
      state.pointee.place = .behind
      try open(block)
      next = 0
    }
  }

  func retreat() throws(StoreError) {
    var block = layer.index.blockCount
    switch state.pointee.place {
    case .inFront: return
    case .at:
      if state.pointee.index > 0 { return show(state.pointee.index - 1) }
      block = state.pointee.block
    case .behind: break
    }
    state.pointee.place = .inFront
    guard block > 0 else { return }
    try open(block - 1)
    show(view.pointee.count - 1)
  }

  private func load(_ block: Int, at index: Int) throws(StoreError) {
    try open(block)
    show(index)
  }

  /// Makes one version of the open block the current one.
  @inline(__always)
  private func show(_ index: Int) {
    let body = view.pointee.body(index)
    state.pointee.place = .at
    state.pointee.index = index
    state.pointee.keyByteCount = view.pointee.writeKeyBehindShared(index, body, to: key)
    state.pointee.sequence = view.pointee.sequence(index)
    state.pointee.isDelete = view.pointee.isDelete(index)
    state.pointee.value = body.value
  }

  // MARK: Blocks

  /// Opens a block: in the cache, or else decoded, with a read if its bytes are not here yet.
  private func open(_ block: Int) throws(StoreError) {
    let step = state.pointee.hasBlock ? block - state.pointee.block : 0
    closeBlock()
    var takesIn = false
    if usesCache {
      switch layer.pin(block, goesOn: abs(step) == 1) {
      case .hit(let frame):
        state.pointee.pinned = frame
        return show(BlockView(frame: BlockCache.Frame.image(frame)), of: block)
      case .miss(let answer): takesIn = answer
      }
    }
    if !state.pointee.readBlocks.contains(block) { try read(block, step: step) }
    let first = layer.index.offset(of: state.pointee.readBlocks.lowerBound)
    let offset = layer.index.offset(of: block)
    let byteCount = layer.index.offset(of: block + 1) - offset
    show(
      try layer.decode(
        UnsafeRawBufferPointer(start: scratch.input.start + (offset - first), count: byteCount), at: offset, scratch),
      of: block)
    if takesIn { layer.takeIn(view.pointee, block) }
  }

  private func show(_ opened: BlockView, of block: Int) {
    view.pointee = opened
    state.pointee.block = block
    state.pointee.hasBlock = true
    state.pointee.prefix = opened.prefix
    key.copyMemory(from: opened.keys + opened.sharedOffset, byteCount: opened.sharedByteCount)
  }

  private func closeBlock() {
    state.pointee.hasBlock = false
    guard let frame = state.pointee.pinned else { return }
    state.pointee.pinned = nil
    layer.unpin(frame, ofBlock: state.pointee.block)
  }

  /// Reads a block, and its neighbours in the direction in which the cursor goes on.
  ///
  /// - Parameter step: from the block before to this one.
  private func read(_ block: Int, step: Int) throws(StoreError) {
    var blocks = block..<block + 1
    if abs(step) == 1 {
      state.pointee.readByteCount = min(max(16 << 10, state.pointee.readByteCount * 2), Self.readByteCountMax)
      let limit = state.pointee.readByteCount
      if step > 0 {
        let start = layer.index.offset(of: block)
        var end = block + 1
        while end < layer.index.blockCount, layer.index.offset(of: end + 1) - start <= limit { end += 1 }
        blocks = block..<end
      } else {
        let end = layer.index.offset(of: block + 1)
        var start = block
        while start > 0, end - layer.index.offset(of: start - 1) <= limit { start -= 1 }
        blocks = start..<block + 1
      }
    } else {
      state.pointee.readByteCount = 0
    }
    state.pointee.readBlocks = 0..<0
    let offset = layer.index.offset(of: blocks.lowerBound)
    let byteCount = layer.index.offset(of: blocks.upperBound) - offset
    scratch.reserveInput(byteCount)
    try layer.reader.read(
      into: UnsafeMutableRawBufferPointer(rebasing: scratch.input.bytes[0..<byteCount]), at: offset)
    state.pointee.readBlocks = blocks
  }
}
