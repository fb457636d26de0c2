@_spi(Engine) internal import StrandlineLog

/// Chunks of arenas that are no longer needed, for the next memory layer: memory that was in use a moment before is written to at once,
/// and fresh memory may take ten times as long.
final class ChunkPool: Sendable {
  private struct Chunks: ~Copyable {
    var free: [UnsafeMutableRawPointer] = []

    deinit {
      for chunk in free { LayerMemory(at: chunk, byteCount: MemoryArena.chunkByteCountMax).giveBack() }
    }
  }

  private let chunks = Lock(Chunks())
  private let countMax: Int

  /// - Parameter byteCountMax: of what is kept.
  init(byteCountMax: Int) { countMax = byteCountMax / MemoryArena.chunkByteCountMax }

  /// A chunk of ``MemoryArena/chunkByteCountMax``, with whatever was in it; nil if there is none.
  func take() -> UnsafeMutableRawPointer? { chunks.withLock { $0.free.popLast() } }

  /// Keeps a chunk; false if there are enough of them, and the caller has to give it back.
  func give(_ chunk: UnsafeMutableRawPointer) -> Bool {
    chunks.withLock { chunks in
      guard chunks.free.count < countMax else { return false }
      chunks.free.append(chunk)
      return true
    }
  }
}
