import StrandlineTestSupport
import Testing

@testable import Strandline

struct MergedCursorTests {
  @Test(arguments: 1...UInt64(60))
  func `a random stack is walked as if it were one layer`(seed: UInt64) throws {
    var random = RandomVersions(seed: seed)
    let stack = RandomStack(&random)
    var check = CursorCheck(stack.model.inOrder, MergedCursor(stack.cursors(&random)))
    for move in 0..<200 { #expect(try check.move(&random, stays: 1), "seed \(seed), move \(move)") }
    for move in 0..<200 { #expect(try check.move(&random, stays: 5), "seed \(seed), move \(move)") }
    #expect(try check.all(reverse: false) == check.expected, "seed \(seed)")
    #expect(try check.all(reverse: true) == check.expected.reversed(), "seed \(seed)")
  }

  @Test func `a failing layer's error comes through, and a seek goes on`() throws {
    var random = RandomVersions(seed: 3)
    let versions = RandomStack(&random).model.inOrder
    let one = ArrayCursor(versions.indices.filter { $0 % 2 == 0 }.map { versions[$0] })
    let other = ArrayCursor(versions.indices.filter { $0 % 2 == 1 }.map { versions[$0] })
    let check = CursorCheck(versions, MergedCursor([one, other]))
    for moves in 0..<versions.count / 2 {
      other.movesLeft = moves
      #expect(throws: ArrayCursor.failure) { _ = try check.all(reverse: moves % 2 == 0) }
      #expect(check.cursor.current == nil)
    }
    other.movesLeft = nil
    #expect(try check.all(reverse: false) == versions)
  }
}

/// Versions spread over layers as freezing and merging do it: the upper ones hold the later commits.
struct RandomStack {
  var model = VersionModel()
  /// Top first.
  var layers: [VersionModel] = []
  var lastSequence: UInt64 = 0

  init(_ random: inout RandomVersions) {
    random.keyCount = [4, 40, 400].randomElement(using: &random.generator) ?? 40
    for _ in 0..<Int.random(in: 0...6, using: &random.generator) {
      var layer = VersionModel()
      for _ in 0..<Int.random(in: 0...120, using: &random.generator) {
        if Bool.random(using: &random.generator) { lastSequence += 1 }
        let (key, value) = (random.key(), random.value())
        layer.put(key, sequence: lastSequence, value: value)
        model.put(key, sequence: lastSequence, value: value)
      }
      lastSequence += 1
      layers.insert(layer, at: 0)
    }
  }

  /// Some memory layers, some dull ones.
  func cursors(_ random: inout RandomVersions) -> [any VersionCursor] {
    layers.map { layer in
      if Bool.random(using: &random.generator) { return ArrayCursor(layer.inOrder) }
      return Self.memoryLayer(of: layer).makeCursor()
    }
  }

  static func memoryLayer(of model: VersionModel) -> MemoryLayer {
    let memory = MemoryLayer(seed: 4)
    for version in model.inOrder.reversed() {
      memory.put(version.key, sequence: version.sequence, value: version.value)
    }
    return memory
  }
}
