import StrandlineTestSupport
import Testing

@testable import Strandline

struct FramePoolTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func `frames never share a byte, whatever comes and goes, and the first lie on the heap`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let pool = FramePool(byteCountMax: 64 << 20)
    var frames: [(frame: UnsafeMutablePointer<BlockCache.Frame>, byteCount: Int, mark: UInt8)] = []
    var pieceCount = 0
    for round in 0..<6000 {
      if round % 1000 > 700, !frames.isEmpty {
        frames.swapAt(Int.random(in: 0..<frames.count, using: &generator), frames.count - 1)
        let last = frames.removeLast()
        #expect(Self.isWhole(last))
        pool.free(last.frame)
        continue
      }
      let byteCount = [100, 3000, 4096, 9000, 16384, 40_000].randomElement(using: &generator)!
      let frame = pool.allocate(imageByteCount: byteCount)
      let mark = UInt8.random(in: 0...255, using: &generator)
      BlockCache.Frame.image(frame).initializeMemory(as: UInt8.self, repeating: mark, count: byteCount)
      if round < 100 { #expect(!frame.pointee.isPiece) }
      if frame.pointee.isPiece { pieceCount += 1 }
      #expect(frame.pointee.byteCount >= BlockCache.Frame.byteCount(imageByteCount: byteCount))
      frames.append((frame, byteCount, mark))
    }
    #expect(pieceCount > 500)
    for frame in frames {
      #expect(Self.isWhole(frame))
      pool.free(frame.frame)
    }
  }

  private static func isWhole(
    _ frame: (frame: UnsafeMutablePointer<BlockCache.Frame>, byteCount: Int, mark: UInt8)
  ) -> Bool {
    UnsafeRawBufferPointer(start: BlockCache.Frame.image(frame.frame), count: frame.byteCount)
      .allSatisfy { $0 == frame.mark }
  }

  @Test func `a small cache takes no huge page`() {
    let pool = FramePool(byteCountMax: 8 << 20)
    let frames = (0..<1900).map { _ in pool.allocate(imageByteCount: 4096) }
    #expect(frames.allSatisfy { !$0.pointee.isPiece })
    for frame in frames { pool.free(frame) }
  }
}
