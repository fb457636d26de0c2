/// Answers "is the key perhaps here?" in one cache line: six bits of one of many 64-byte lines for each key, ten bits a key in all.
///
/// Of keys that are not here about one in a hundred is let through. Which bits a key has follows from its ``KeyHash``.
enum KeyFilter {
  static let lineByteCount = 64
  static let bitsPerKey = 10

  /// The line of a key: the hash's high bits, scaled.
  @inline(__always)
  static func line(of hash: UInt64, lineCount: Int) -> Int {
    Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: lineCount)).high)
  }

  /// Six places of nine bits each, of bits that the line does not depend on.
  @inline(__always)
  private static func places(of hash: UInt64) -> UInt64 { hash &* 0x9FB2_1C65_1E98_DF25 }

  @inline(__always)
  static func insert(_ hash: UInt64, into line: UnsafeMutableRawPointer) {
    var places = places(of: hash)
    let words = line.assumingMemoryBound(to: UInt64.self)
    for _ in 0..<6 {
      let bit = Int(truncatingIfNeeded: places >> 55)
      words[bit >> 6] |= 1 << UInt64(truncatingIfNeeded: bit & 63)
      places <<= 9
    }
  }

  @inline(__always)
  static func mayContain(_ hash: UInt64, in line: UnsafeRawPointer) -> Bool {
    var places = places(of: hash)
    let words = line.assumingMemoryBound(to: UInt64.self)
    var all: UInt64 = 1
    for _ in 0..<6 {
      let bit = Int(truncatingIfNeeded: places >> 55)
      all &= words[bit >> 6] &>> UInt64(truncatingIfNeeded: bit & 63)
      places <<= 9
    }
    return all & 1 != 0
  }
}

/// A filter that is being filled.
struct KeyFilterBuilder: ~Copyable {
  private let memory: RawMemory
  private var lineCount: Int
  private var keyCount = 0

  /// - Parameter keyCountMax: more keys than these make the filter let more through, nothing else.
  init(keyCountMax: Int) {
    let wanted = max(1, (keyCountMax * KeyFilter.bitsPerKey + 511) / 512)
    // A multiple of a power of two, so that it can be folded in half as often as it may be too large.
    let unit = max(1, 1 << (Int.bitWidth - wanted.leadingZeroBitCount - 5))
    lineCount = (wanted + unit - 1) / unit * unit
    memory = RawMemory(byteCount: lineCount * KeyFilter.lineByteCount)
    memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  @inline(__always)
  mutating func insert(_ hash: UInt64) {
    let line = KeyFilter.line(of: hash, lineCount: lineCount)
    KeyFilter.insert(hash, into: memory.start + line * KeyFilter.lineByteCount)
    keyCount &+= 1
  }

  /// Folds a filter that turned out too large: a key's line in half as many lines is half its line, so neighbours are united.
  mutating func fold() {
    let words = memory.start.assumingMemoryBound(to: UInt64.self)
    while lineCount > 1, lineCount % 2 == 0, lineCount / 2 * 512 >= keyCount * KeyFilter.bitsPerKey {
      lineCount /= 2
      for line in 0..<lineCount {
        for word in 0..<8 { words[line * 8 + word] = words[line * 16 + word] | words[line * 16 + 8 + word] }
      }
    }
    if keyCount == 0 { lineCount = 0 }
  }

  /// The lines. Valid as long as the builder is.
  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory.bytes[0..<lineCount * KeyFilter.lineByteCount])
  }
}
