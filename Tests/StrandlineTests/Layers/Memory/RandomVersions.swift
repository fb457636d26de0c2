import StrandlineTestSupport

@testable import Strandline

/// Keys and values that are likely to meet, to share beginnings, and to be extreme.
struct RandomVersions {
  var generator: SeededGenerator
  /// About so many different keys.
  var keyCount = 60

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func key() -> StoreKey {
    // A number gives always the same key.
    let number = Int.random(in: 0..<keyCount, using: &generator)
    var own = SeededGenerator(seed: UInt64(number))
    let prefix = KeyPrefix(
      [Family.row, .row, .index, .meta].randomElement(using: &own) ?? .row, table: UInt16(number % 3))
    switch number % 6 {
    case 0: return StoreKey(prefix, own.bytes(16))
    case 1: return StoreKey(prefix, (0..<8).map { $0 == 7 ? UInt8(truncatingIfNeeded: number) : 0 })
    case 2: return StoreKey(prefix, [UInt8](repeating: 0, count: number % 20))
    case 3: return StoreKey(prefix, Array("a common beginning/".utf8) + own.bytes(number % 3))
    case 4: return StoreKey(prefix, own.bytes(number % 14))
    default: return StoreKey(prefix, [UInt8](repeating: 0xFF, count: number % 30))
    }
  }

  mutating func value() -> [UInt8]? {
    switch Int.random(in: 0..<20, using: &generator) {
    case 0...3: nil
    case 4: []
    case 5: generator.bytes(Int.random(in: 0..<5_000, using: &generator))
    default: generator.bytes(Int.random(in: 0..<200, using: &generator))
    }
  }
}
