@_spi(Engine) internal import StrandlineLog

/// Folds the tail of the log into a memory layer while the log is opened.
struct StoreReplay {
  private let seed: UInt64
  private(set) var memory: MemoryLayer
  /// The base of the last RESET in the tail; nil if there was none.
  private(set) var base: [LayerEntry]?
  /// Time and number of the last commit seen.
  private(set) var times = TimeTrail()

  init(seed: UInt64) {
    self.seed = seed
    memory = MemoryLayer(seed: seed)
  }

  /// - Throws: ``LogError/replayRefused(at:reason:)`` for records that are not facts.
  mutating func take(_ batch: borrowing ReplayBatch) throws(LogError) {
    for frame in batch.frames {
      switch frame.kind {
      case .gap: continue
      case .reset:
        memory = MemoryLayer(seed: seed)
        base = batch.reset(of: frame)?.base ?? []
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
  }

  @inline(__always)
  private func put(_ key: KeyView, _ value: UnsafeRawBufferPointer?, _ frame: ReplayBatch.Frame) {
    memory.put(key, hash: KeyHash.of(key, seed: seed), sequence: frame.sequence.rawValue, value: value)
  }
}
