import StrandlineTestSupport
import Testing

@testable import Strandline

struct MemoryCursorTests {
  @Test func `a cursor over an empty layer shows nothing wherever it goes`() {
    let cursor = MemoryLayer(seed: 1).makeCursor()
    #expect(cursor.current == nil)
    cursor.advance()
    #expect(cursor.current == nil)
    cursor.seek(to: .lowest)
    #expect(cursor.current == nil)
    cursor.seekBack(before: nil)
    #expect(cursor.current == nil)
    cursor.retreat()
    cursor.advancePastKey()
    #expect(cursor.current == nil)
  }

  @Test(arguments: 1...UInt64(30))
  func `cursors made between random commits show what the model holds, wherever they go`(seed: UInt64) throws {
    var random = RandomVersions(seed: seed)
    random.keyCount = [5, 60, 2_000][Int(seed % 3)]
    let layer = MemoryLayer(seed: seed)
    var model = VersionModel()
    var sequence: UInt64 = 0
    for _ in 0..<25 {
      for _ in 0..<Int.random(in: 0...12, using: &random.generator) {
        sequence += 1
        let keys = (0..<Int.random(in: 1...(seed % 2 == 0 ? 4 : 90), using: &random.generator)).map { _ in random.key()
        }
        for key in keys {
          let value = random.value()
          layer.put(key, sequence: sequence, value: value)
          model.put(key, sequence: sequence, value: value)
        }
        // A cursor made now sorts versions that will be taken back.
        if Int.random(in: 0..<6, using: &random.generator) == 0 { _ = layer.makeCursor() }
        if Int.random(in: 0..<4, using: &random.generator) == 0 {
          for key in keys.reversed() {
            layer.removeNewest(key, sequence: sequence)
            model.removeNewest(key, sequence: sequence)
          }
          sequence -= 1
        }
      }
      var check = CursorCheck(model.inOrder, layer.makeCursor())
      for move in 0..<60 { #expect(try check.move(&random, stays: 1), "seed \(seed), move \(move)") }
      for move in 0..<60 { #expect(try check.move(&random, stays: 5), "seed \(seed), move \(move)") }
    }
    let check = CursorCheck(model.inOrder, layer.makeCursor())
    #expect(try check.all(reverse: false) == check.expected, "seed \(seed)")
    #expect(try check.all(reverse: true) == check.expected.reversed(), "seed \(seed)")
  }

  @Test func `a batch that fills one chunk after another is seen whole`() throws {
    var generator = SeededGenerator(seed: 3)
    let layer = MemoryLayer(seed: 3)
    var model = VersionModel()
    for sequence in 1...UInt64(3) {
      let keys = (0..<4_000).map { _ in StoreKey(KeyPrefix(.row), generator.bytes(16)) }
      let values: [[UInt8]?] = keys.map { _ in generator.bytes(200) }
      layer.putBatch(keys, values, sequence: sequence)
      for (key, value) in zip(keys, values) { model.put(key, sequence: sequence, value: value) }
      let check = CursorCheck(model.inOrder, layer.makeCursor())
      #expect(try check.all(reverse: false) == check.expected)
    }
  }

  @Test func `a cursor goes on showing what it showed when the layer grows on`() throws {
    var random = RandomVersions(seed: 5)
    let layer = MemoryLayer(seed: 5)
    var model = VersionModel()
    for sequence in 1...UInt64(500) {
      let (key, value) = (random.key(), random.value())
      layer.put(key, sequence: sequence, value: value)
      model.put(key, sequence: sequence, value: value)
    }
    let check = CursorCheck(model.inOrder, layer.makeCursor())
    for sequence in 501...UInt64(5_000) { layer.put(random.key(), sequence: sequence, value: random.value()) }
    #expect(try check.all(reverse: false).filter { $0.sequence <= 500 } == check.expected)
  }

  @Test(arguments: ["random", "ascending", "descending", "one key", "common beginning", "two digits", "short"])
  func `many versions are sorted, whatever their keys look like`(shape: String) throws {
    let layer = MemoryLayer(seed: 2)
    var generator = SeededGenerator(seed: 2)
    var model = VersionModel()
    for number in 0..<20_000 {
      let text = Array("000000\(number)".utf8.suffix(6))
      let bytes: [UInt8] =
        switch shape {
        case "ascending": text
        case "descending": Array("00000\(99_999 - number)".utf8.suffix(6))
        case "one key": [1, 2, 3]
        case "common beginning": [UInt8](repeating: 7, count: 20) + generator.bytes(3)
        case "two digits": generator.bytes(15).map { $0 & 1 }
        case "short": generator.bytes(Int.random(in: 0...2, using: &generator))
        default: generator.bytes(16)
        }
      let key = StoreKey(KeyPrefix(.row, table: UInt16(number % 3 / 2)), bytes)
      layer.put(key, sequence: UInt64(number), value: text)
      model.put(key, sequence: UInt64(number), value: text)
    }
    let check = CursorCheck(model.inOrder, layer.makeCursor())
    #expect(try check.all(reverse: false) == check.expected)
  }
}
