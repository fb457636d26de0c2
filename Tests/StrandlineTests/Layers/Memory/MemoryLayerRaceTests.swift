import StrandlineTestSupport
import Synchronization
import Testing

@testable import Strandline

/// To be run under the thread sanitizer too.
struct MemoryLayerRaceTests {
  @Test func `readers beside a writer at full speed see every version published, and nothing else`() {
    let layer = MemoryLayer(seed: 9)
    let keyCount = 4_000
    let commitCount = UInt64(12_000 * SoakScale.factor)
    let published = Box()
    withThreads(4) { thread in
      if thread == 0 {
        var generator = SeededGenerator(seed: 0)
        for sequence in 1...commitCount {
          let keys = (0..<3).map { _ in Int.random(in: 0..<keyCount, using: &generator) } + [0]
          for key in keys { layer.put(Self.key(key), sequence: sequence, value: Self.value(key, sequence)) }
          if sequence % 7 == 0 {
            // Fails, and its number is used again.
            for key in keys.reversed() { layer.removeNewest(Self.key(key), sequence: sequence) }
            for key in keys { layer.put(Self.key(key), sequence: sequence, value: Self.value(key, sequence)) }
          }
          published.sequence.store(sequence, ordering: .releasing)
        }
        published.isDone.store(true, ordering: .releasing)
      } else {
        var generator = SeededGenerator(seed: UInt64(thread))
        var buffer = ValueBuffer()
        var wrong = 0
        while !published.isDone.load(ordering: .acquiring) {
          let sequence = published.sequence.load(ordering: .acquiring)
          // Key 0 is written by every commit.
          if sequence > 0, layer.find(Self.key(0), at: sequence, into: &buffer)?.sequence != sequence { wrong += 1 }
          for _ in 0..<20 {
            let key = Int.random(in: 0..<keyCount, using: &generator)
            guard let version = layer.find(Self.key(key), at: sequence, into: &buffer) else { continue }
            if version.sequence > sequence || version.value != Self.value(key, version.sequence) { wrong += 1 }
          }
          if layer.byteCount < layer.versionCount { wrong += 1 }
          if Int.random(in: 0..<8, using: &generator) == 0 { wrong += Self.scan(layer, at: sequence, &generator) }
        }
        #expect(wrong == 0)
      }
    }
    var buffer = ValueBuffer()
    #expect(layer.find(Self.key(0), at: .max, into: &buffer)?.sequence == commitCount)
  }

  /// Some rows of a scan; how many were wrong.
  private static func scan(_ layer: MemoryLayer, at sequence: UInt64, _ generator: inout SeededGenerator) -> Int {
    var wrong = 0
    let reverse = Bool.random(using: &generator)
    let table = UInt16.random(in: 0..<5, using: &generator)
    let cursor = VisibleCursor(
      [layer.makeCursor()], range: .all(KeyPrefix(.row, table: table)), at: sequence, reverse: reverse)
    var last: StoreKey?
    for row in 0..<50 {
      guard let view = try? cursor.next() else { break }
      let version = VersionModel.Version(view)
      let number = version.key.bytes.suffix(2).reduce(0) { $0 << 8 | Int($1) }
      if version.sequence > sequence || version.value != value(number, version.sequence) { wrong += 1 }
      if row == 0, !reverse, table == 0, version.key != key(0) || version.sequence != sequence { wrong += 1 }
      if let last, (last < version.key) == reverse { wrong += 1 }
      last = version.key
    }
    return wrong
  }

  private final class Box: Sendable {
    let sequence = Atomic<UInt64>(0)
    let isDone = Atomic<Bool>(false)
  }

  private static func key(_ number: Int) -> StoreKey {
    StoreKey(
      KeyPrefix(.row, table: UInt16(number % 5)), (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * (7 - $0))) })
  }

  private static func value(_ key: Int, _ sequence: UInt64) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: UInt64(key) &* 31 &+ sequence), count: 20 + key % 50)
  }
}
