import StrandlineTestSupport
import Testing

@testable import Strandline

struct ChunkPoolTests {
  private func key(_ number: Int) -> StoreKey {
    StoreKey(KeyPrefix(.row, table: 1), withUnsafeBytes(of: number.bigEndian) { Array($0) })
  }

  @Test func `a layer in another one's memory holds what it was given and nothing else`() {
    let pool = ChunkPool(byteCountMax: 3 * MemoryArena.chunkByteCountMax)
    var buffer = ValueBuffer()
    for round in 1...3 {
      let layer = MemoryLayer(seed: UInt64(round), pool: pool)
      let value = [UInt8](repeating: UInt8(round), count: 10_000)
      for number in 0..<3000 { layer.put(key(number * round), sequence: UInt64(number + 1), value: value) }
      #expect(layer.versionCount == 3000)
      for number in 0..<3000 {
        #expect(layer.find(key(number * round), at: .max, into: &buffer)?.value == value)
      }
      #expect(layer.find(key(1), at: .max, into: &buffer) == nil || round == 1)
      let cursor = layer.makeCursor()
      cursor.advance()
      var count = 0
      while cursor.current != nil {
        count += 1
        cursor.advance()
      }
      #expect(count == 3000)
    }
    // No more is kept than was asked for.
    #expect(pool.take() != nil && pool.take() != nil && pool.take() != nil && pool.take() == nil)
  }
}
