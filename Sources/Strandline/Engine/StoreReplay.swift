@_spi(Engine) internal import StrandlineLog

/// Folds the tail of the log into a memory layer while the log is opened.
struct StoreReplay {
  private let seed: UInt64
  private let chunks: ChunkPool
  private(set) var memory: MemoryLayer
  /// Time and number of the last commit seen.
  private(set) var times = TimeTrail()

  init(seed: UInt64, chunks: ChunkPool) {
    self.seed = seed
    self.chunks = chunks
    memory = MemoryLayer(seed: seed, pool: chunks)
  }

  /// Facts on their way into the layer, all of one batch; the memory is used again.
  private var items: [MemoryLayer.Item] = []
  private static let itemCount = 1024

  /// - Throws: ``LogError/replayRefused(at:reason:)`` for records that are not facts.
  mutating func take(_ batch: borrowing ReplayBatch) throws(LogError) {
    for frame in batch.frames {
      switch frame.kind {
      case .gap: continue
      case .reset:
        items.removeAll(keepingCapacity: true)
        memory = MemoryLayer(seed: seed, pool: chunks)
      case .records:
        if frame.isFirst { times.note(frame.time, sequence: frame.sequence.rawValue) }
      }
      for record in batch.records(of: frame) {
        switch FactView.decode(record) {
        case .put(let key, let value): put(key, value, frame)
        case .delete(let key): put(key, nil, frame)
        case .header: continue
        case nil:
          throw .replayRefused(
            at: frame.sequence, reason: "a record is no fact of a store; it may be a log written by itself")
        }
      }
    }
    // Keys and values lie in the batch.
    flush()
  }

  @inline(__always)
  private mutating func put(_ key: KeyView, _ value: UnsafeRawBufferPointer?, _ frame: ReplayBatch.Frame) {
    items.append(
      MemoryLayer.Item(
        key: key, hash: KeyHash.of(key, seed: seed), sequence: frame.sequence.rawValue, value: value))
    if items.count == Self.itemCount { flush() }
  }

  private mutating func flush() {
    items.withUnsafeBufferPointer { memory.put($0) }
    items.removeAll(keepingCapacity: true)
  }
}
