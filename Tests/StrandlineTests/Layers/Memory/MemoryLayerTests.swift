import StrandlineTestSupport
import Testing

@testable import Strandline

struct MemoryLayerTests {
  private let key = StoreKey(KeyPrefix(.row, table: 1), [1, 2, 3])

  @Test func `an empty layer knows nothing`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    #expect(layer.find(key, at: .max, into: &buffer) == nil)
    #expect(layer.isEmpty)
    #expect(layer.firstSequence == nil && layer.lastSequence == nil)
  }

  @Test func `a read sees the newest version at or below its sequence number`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    layer.put(key, sequence: 3, value: [3])
    layer.put(key, sequence: 5, value: nil)
    layer.put(key, sequence: 9, value: [])
    #expect(layer.find(key, at: 2, into: &buffer) == nil)
    #expect(layer.find(key, at: 3, into: &buffer)?.value == [3])
    #expect(layer.find(key, at: 4, into: &buffer)?.sequence == 3)
    #expect(layer.find(key, at: 8, into: &buffer) == VersionModel.Version(key: key, sequence: 5, value: nil))
    #expect(layer.find(key, at: 9, into: &buffer)?.value == [])
    #expect(layer.versionCount == 3)
    #expect(layer.firstSequence == 3 && layer.lastSequence == 9)
  }

  @Test func `what was taken back was never there, even a key's only version, and its number may be used again`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    layer.put(key, sequence: 7, value: [7])
    layer.removeNewest(key, sequence: 7)
    #expect(layer.find(key, at: .max, into: &buffer) == nil)
    #expect(layer.isEmpty)
    #expect(layer.lastSequence == 6)
    layer.put(key, sequence: 7, value: [8])
    layer.put(key, sequence: 8, value: [9])
    layer.removeNewest(key, sequence: 7)
    #expect(layer.find(key, at: .max, into: &buffer)?.value == [9], "the newest version is not of commit 7")
    layer.removeNewest(key, sequence: 8)
    #expect(layer.find(key, at: .max, into: &buffer)?.value == [8])
  }

  @Test func `of several writes of one commit to a key the last one counts`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    layer.put(key, sequence: 1, value: [0])
    layer.put(key, sequence: 2, value: [1])
    layer.put(key, sequence: 2, value: nil)
    layer.put(key, sequence: 2, value: [2])
    #expect(layer.versionCount == 2)
    #expect(layer.find(key, at: 2, into: &buffer)?.value == [2])
    layer.removeNewest(key, sequence: 2)
    layer.removeNewest(key, sequence: 2)
    #expect(layer.find(key, at: 2, into: &buffer)?.value == [0])
  }

  @Test func `keys with the same hash are told apart, with slots left by removed ones between them`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    let keys = (0..<UInt8(100)).map { StoreKey(KeyPrefix(.row), [$0]) }
    func put(_ key: StoreKey, _ sequence: UInt64) {
      key.withView { view in key.bytes.withUnsafeBytes { layer.put(view, hash: 42, sequence: sequence, value: $0) } }
    }
    for key in keys { put(key, 1) }
    for key in keys where key.bytes[0] % 3 == 0 { key.withView { layer.removeNewest($0, hash: 42, sequence: 1) } }
    for key in keys where key.bytes[0] % 2 == 0 { put(key, 2) }
    for key in keys {
      let expected: UInt64? = key.bytes[0] % 2 == 0 ? 2 : key.bytes[0] % 3 == 0 ? nil : 1
      let finding = key.withView { layer.find($0, hash: 42, at: .max, into: &buffer) }
      #expect(finding == expected.map { .found(sequence: $0) } ?? .absent)
      if expected != nil { #expect(Array(buffer.bytes) == key.bytes) }
    }
  }

  @Test func `keys and values as large as the format allows are kept whole`() {
    let layer = MemoryLayer(seed: 1)
    var buffer = ValueBuffer()
    var generator = SeededGenerator(seed: 1)
    let key = StoreKey(KeyPrefix(rawValue: 0xFF_FFFF), generator.bytes(StoreLimits.keyByteCountMax))
    let value = generator.bytes(StoreLimits.recordByteCountMax)
    layer.put(key, sequence: .max, value: value)
    layer.put(self.key, sequence: 1, value: [1])
    #expect(layer.find(key, at: .max, into: &buffer)?.value == value)
    #expect(layer.find(self.key, at: .max, into: &buffer)?.value == [1])
    #expect(layer.byteCount > value.count)
  }

  @Test(arguments: 1...UInt64(24))
  func `random operations leave what a dictionary of arrays holds`(seed: UInt64) {
    var random = RandomVersions(seed: seed)
    random.keyCount = [3, 60, 3_000][Int(seed % 3)]
    let layer = MemoryLayer(seed: seed, expectedKeyCount: seed % 2 == 0 ? 0 : random.keyCount)
    var model = VersionModel()
    var buffer = ValueBuffer(capacity: 1)
    var sequence: UInt64 = 1
    for _ in 0..<400 {
      let keys = (0..<Int.random(in: 1...20, using: &random.generator)).map { _ in random.key() }
      let values = keys.map { _ in random.value() }
      switch Int.random(in: 0..<3, using: &random.generator) {
      case 0: for (key, value) in zip(keys, values) { layer.put(key, sequence: sequence, value: value) }
      case 1: layer.putBatch(keys, values, sequence: sequence)
      default:
        for (key, value) in zip(keys, values) { layer.putSoon(key, sequence: sequence, value: value) }
        layer.settle()
      }
      for (key, value) in zip(keys, values) { model.put(key, sequence: sequence, value: value) }
      if Int.random(in: 0..<5, using: &random.generator) == 0 {
        for key in keys.reversed() {
          layer.removeNewest(key, sequence: sequence)
          model.removeNewest(key, sequence: sequence)
        }
        #expect(layer.lastSequence == sequence - 1, "seed \(seed)")
      } else {
        sequence += UInt64.random(in: 1...3, using: &random.generator)
      }
      for _ in 0..<20 {
        let key = random.key()
        let at =
          Bool.random(using: &random.generator) ? UInt64.max : UInt64.random(in: 0...sequence, using: &random.generator)
        #expect(layer.find(key, at: at, into: &buffer) == model.find(key, at: at), "seed \(seed)")
      }
    }
    #expect(layer.versionCount == model.count, "seed \(seed)")
    for version in model.inOrder {
      #expect(layer.find(version.key, at: version.sequence, into: &buffer) == version, "seed \(seed)")
    }
  }
}
