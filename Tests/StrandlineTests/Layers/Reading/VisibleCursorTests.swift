import StrandlineTestSupport
import Testing

@testable import Strandline

struct VisibleCursorTests {
  @Test(arguments: 1...UInt64(80))
  func `a scan shows each key as it was at the sequence number, forwards and backwards`(seed: UInt64) throws {
    var random = RandomVersions(seed: seed)
    let stack = RandomStack(&random)
    for _ in 0..<30 {
      let sequence =
        [.max, UInt64.random(in: 0...stack.lastSequence + 1, using: &random.generator)]
        .randomElement(using: &random.generator) ?? .max
      let range = Self.range(&random)
      let reverse = Bool.random(using: &random.generator)
      let cursor = VisibleCursor(stack.cursors(&random), range: range, at: sequence, reverse: reverse)
      #expect(
        try Self.all(cursor) == Self.expected(stack.model, range, sequence, reverse),
        "seed \(seed), range \(range), at \(sequence), reverse \(reverse)")
    }
  }

  @Test(arguments: 1...UInt64(20))
  func `a scan of a lone memory layer shows the same as any other`(seed: UInt64) throws {
    var random = RandomVersions(seed: seed)
    let stack = RandomStack(&random)
    let layer = RandomStack.memoryLayer(of: stack.model)
    for sequence in 0...stack.lastSequence where sequence % 5 == seed % 5 {
      for reverse in [false, true] {
        let range = Self.range(&random)
        let cursor = VisibleCursor([layer.makeCursor()], range: range, at: sequence, reverse: reverse)
        #expect(
          try Self.all(cursor) == Self.expected(stack.model, range, sequence, reverse),
          "seed \(seed), range \(range), at \(sequence), reverse \(reverse)")
      }
    }
  }

  @Test(arguments: [false, true])
  func `after an error the scan has ended`(reverse: Bool) throws {
    var random = RandomVersions(seed: 8)
    let versions = RandomStack(&random).model.inOrder
    let source = ArrayCursor(versions)
    source.movesLeft = 4
    let cursor = VisibleCursor(
      [source], range: KeyRange(lower: StoreKey(KeyPrefix(rawValue: 0)), upper: nil), at: .max, reverse: reverse)
    #expect(throws: ArrayCursor.failure) { _ = try Self.all(cursor) }
    source.movesLeft = nil
    #expect(try cursor.next() == nil)
  }

  private static func range(_ random: inout RandomVersions) -> KeyRange {
    switch Int.random(in: 0..<5, using: &random.generator) {
    case 0: return KeyRange(lower: StoreKey(KeyPrefix(rawValue: 0)), upper: nil)
    case 1: return .all(random.key().prefix)
    case 2: return KeyRange(lower: random.key(), upper: nil)
    // May be empty, or upside down.
    default: return KeyRange(lower: random.key(), upper: random.key())
    }
  }

  private static func all(_ cursor: VisibleCursor) throws -> [VersionModel.Version] {
    var found: [VersionModel.Version] = []
    while let view = try cursor.next() { found.append(VersionModel.Version(view)) }
    #expect(try cursor.next() == nil)
    return found
  }

  private static func expected(
    _ model: VersionModel, _ range: KeyRange, _ sequence: UInt64, _ reverse: Bool
  ) -> [VersionModel.Version] {
    var found: [VersionModel.Version] = []
    for key in model.versions.keys.sorted() {
      if key < range.lower { continue }
      if let upper = range.upper, !(key < upper) { continue }
      if let version = model.find(key, at: sequence), version.value != nil { found.append(version) }
    }
    return reverse ? found.reversed() : found
  }
}
