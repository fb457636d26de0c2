internal import CLZ4
@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per block. Evidence: Docs/Benchmarks.md, "compact.1M".

/// LZ4 over the bodies of blocks, each alone or against one dictionary that lies directly before it in memory.
struct BlockCompressor: ~Copyable {
  private let effort: LayerOptions.Effort
  /// A stream that has read the dictionary, and its copy for one block.
  private let primedStream: RawMemory
  private let stream: RawMemory

  /// The level of LZ4's thorough form. Evidence: Docs/Decisions/0026-thorough-compaction.md.
  private static let thoroughLevel: Int32 = 6

  init(_ effort: LayerOptions.Effort) {
    self.effort = effort
    let byteCount =
      switch effort {
      case .fast: MemoryLayout<LZ4_stream_t>.size
      case .thorough: Int(LZ4_sizeofStateHC())
      }
    primedStream = RawMemory(byteCount: byteCount)
    stream = RawMemory(byteCount: byteCount)
  }

  /// The most bytes that `byteCount` can become.
  static func room(for byteCount: Int) -> Int { Int(LZ4_compressBound(Int32(byteCount))) }

  /// Reads the dictionary; it must stay where it is, and what is compressed against it must lie directly behind it.
  func prime(_ dictionary: UnsafeMutableRawPointer, byteCount: Int) {
    let bytes = dictionary.assumingMemoryBound(to: CChar.self)
    switch effort {
    case .fast:
      LZ4_initStream(primedStream.start, primedStream.bytes.count)
      LZ4_loadDict(primedStream.start.assumingMemoryBound(to: LZ4_stream_t.self), bytes, Int32(byteCount))
    case .thorough:
      LZ4_initStreamHC(primedStream.start, primedStream.bytes.count)
      let stream = primedStream.start.assumingMemoryBound(to: LZ4_streamHC_t.self)
      LZ4_resetStreamHC_fast(stream, Self.thoroughLevel)
      LZ4_loadDictHC(stream, bytes, Int32(byteCount))
    }
  }

  /// Compresses one block, at most 2 GiB, into `target`, which has the room that ``room(for:)`` tells.
  ///
  /// - Returns: the bytes made; 0 where LZ4 refuses.
  func compress(
    _ source: UnsafeMutableRawPointer, byteCount: Int, to target: UnsafeMutableRawPointer, usesDictionary: Bool
  ) -> Int {
    let bytes = source.assumingMemoryBound(to: CChar.self)
    let output = target.assumingMemoryBound(to: CChar.self)
    let room = LZ4_compressBound(Int32(byteCount))
    if usesDictionary { stream.bytes.copyMemory(from: UnsafeRawBufferPointer(primedStream.bytes)) }
    let made =
      switch (effort, usesDictionary) {
      case (.fast, true):
        LZ4_compress_fast_continue(
          stream.start.assumingMemoryBound(to: LZ4_stream_t.self), bytes, output, Int32(byteCount), room, 1)
      case (.fast, false):
        LZ4_compress_fast_extState(stream.start, bytes, output, Int32(byteCount), room, 1)
      case (.thorough, true):
        LZ4_compress_HC_continue(
          stream.start.assumingMemoryBound(to: LZ4_streamHC_t.self), bytes, output, Int32(byteCount), room)
      case (.thorough, false):
        LZ4_compress_HC_extStateHC(stream.start, bytes, output, Int32(byteCount), room, Self.thoroughLevel)
      }
    return Int(made)
  }
}
