import StrandlineTestSupport
import Testing

@testable import StrandlineLog

struct VarintTests {
  @Test(arguments: [UInt64(0), 1, 127, 128, 16_383, 16_384, 1 << 32, .max >> 1, .max])
  func `a number is read back and takes as many bytes as promised`(value: UInt64) {
    var bytes = [UInt8](repeating: 0xAA, count: 12)
    let count = bytes.withUnsafeMutableBytes { Varint.write(value, to: $0.baseAddress!) }
    #expect(count == Varint.byteCount(value))
    bytes.withUnsafeBytes { buffer in
      var offset = 0
      #expect(Varint.read(UnsafeRawBufferPointer(rebasing: buffer[0..<count]), at: &offset) == value)
      #expect(offset == count)
      var cut = 0
      #expect(Varint.read(UnsafeRawBufferPointer(rebasing: buffer[0..<count - 1]), at: &cut) == nil)
      #expect(cut == 0)
    }
  }

  @Test(arguments: [
    [0x80, 0x00], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], [UInt8](repeating: 0x80, count: 11), [],
  ])
  func `overlong and oversized forms are refused`(bytes: [UInt8]) {
    bytes.withUnsafeBytes { buffer in
      var offset = 0
      #expect(Varint.read(buffer, at: &offset) == nil)
      #expect(offset == 0)
    }
  }

  @Test(arguments: [Int64(0), -1, 1, .min, .max, 1_700_000_000_000])
  func `zig-zag is its own way back`(value: Int64) {
    #expect(Varint.unZigZag(Varint.zigZag(value)) == value)
  }
}
