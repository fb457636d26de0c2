import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Each sector of small stores zeroed, set, scrambled, swapped, taken from another time or another store.
struct EverySectorTests {
  private static let caseCount = 500

  @Test(arguments: Array(SampleStore.all.indices), [512, 4096])
  func `a sector of other bytes is never believed`(index: Int, size: Int) throws {
    let store = SampleStore.all[index]
    let foreign = SampleStore.all[(index + 1) % SampleStore.all.count].image
    var tally = Tally()
    var generator = SeededGenerator(seed: UInt64(size))
    for file in store.image.files(below: SampleStore.path) where !file.hasSuffix("LOCK") && !file.hasSuffix(".lyr") {
      let bytes = try #require(store.image.bytes(of: file))
      let sectors = (bytes.count + size - 1) / size
      let others = 5 + sectors
      let step = SoakScale.stride(of: sectors * others, running: Self.caseCount)
      var number = 0
      while number < sectors * others {
        let sector = number / others
        let range = sector * size..<min(bytes.count, (sector + 1) * size)
        var changed = bytes
        let what = change(&changed, range, number % others, size, file, store, foreign, &generator)
        number += step == 1 ? 1 : Int.random(in: 1...step * 2 - 1, using: &generator)
        guard let what, changed != bytes else { continue }
        var image = store.image
        image.put(file, changed)
        let trial = Trial(store: store, image: image, damage: "\(file) bytes \(range) \(what)")
        tally.add(try trial.check())
        if number % 3 == 0 || SoakScale.factor > 1 {
          try trial.checkSalvage()
          tally.addSalvage()
        }
      }
    }
    print(tally.line("every sector of \(size)", store))
  }

  /// Applies the `kind`-th change; answers its name, or nil if it does not exist for the sector.
  private func change(
    _ bytes: inout [UInt8], _ range: Range<Int>, _ kind: Int, _ size: Int, _ file: String, _ store: SampleStore,
    _ foreign: DiskImage, _ generator: inout SeededGenerator
  ) -> String? {
    func take(from other: [UInt8]?) -> Bool {
      guard let other, other.count >= range.upperBound else { return false }
      bytes.replaceSubrange(range, with: other[range])
      return true
    }
    switch kind {
    case 0:
      bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
      return "zeroed"
    case 1:
      bytes.replaceSubrange(range, with: repeatElement(0xFF, count: range.count))
      return "set to 0xFF"
    case 2:
      bytes.replaceSubrange(range, with: generator.bytes(range.count))
      return "random"
    case 3: return take(from: store.older.bytes(of: file)) ? "of an older version" : nil
    case 4:
      let suffix = file.hasSuffix("META") ? "META" : ".log"
      let name = foreign.files(below: SampleStore.path).first { $0.hasSuffix(suffix) }
      return take(from: name.flatMap { foreign.bytes(of: $0) }) ? "of another store" : nil
    default:
      let other = (kind - 5) * size..<min(bytes.count, (kind - 4) * size)
      guard other.count == range.count, other.lowerBound > range.lowerBound else { return nil }
      let mine = Array(bytes[range])
      bytes.replaceSubrange(range, with: bytes[other])
      bytes.replaceSubrange(other, with: mine)
      return "swapped with \(other)"
    }
  }
}
