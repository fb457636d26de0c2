@_spi(Engine) internal import StrandlineLog

/// Folds the tail of the log into a memory layer while the log is opened.
struct StoreReplay {
  private let path: String
  private let seed: UInt64
  private let chunks: ChunkPool
  private(set) var memory: MemoryLayer
  /// Time and number of the last commit seen.
  private(set) var times = TimeTrail()
  /// Whether anything was a store's own.
  private var sawFact = false

  /// - Parameter path: of the store, for errors.
  init(path: String, seed: UInt64, chunks: ChunkPool) {
    self.path = path
    self.seed = seed
    self.chunks = chunks
    memory = MemoryLayer(seed: seed, pool: chunks)
  }

  /// Facts on their way into the layer, all of one batch; the memory is used again.
  private var items: [MemoryLayer.Item] = []
  private static let itemCount = 1024

  /// - Throws: ``LogError/unsupportedFormat(file:detail:)`` where the first record already is no fact: a log that an application keeps by
  ///   itself; ``LogError/replayRefused(at:reason:)`` where a later one is none.
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
        case .header: sawFact = true
        case nil:
          guard sawFact else { throw .unsupportedFormat(file: path, detail: .withoutTables) }
          throw .replayRefused(at: frame.sequence, reason: "a record is no fact of a store")
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
