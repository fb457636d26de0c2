import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Every bit of small stores flipped, one at a time, and every byte set to 0x00 and 0xFF.
struct EveryBitTests {
  /// Cases a store and file that run by default; all of them from a scale of 70 on.
  private static let caseCount = 1200

  @Test(arguments: SampleStore.all)
  func `a damaged byte is found, never believed, and costs salvage one commit at most`(_ store: SampleStore) throws {
    var tally = Tally()
    for file in store.image.files(below: SampleStore.path) where !file.hasSuffix("LOCK") && !file.hasSuffix(".lyr") {
      let bytes = try #require(store.image.bytes(of: file))
      let total = bytes.count * 10
      var generator = SeededGenerator(seed: UInt64(total))
      let step = SoakScale.stride(of: total, running: Self.caseCount)
      var number = 0
      while number < total {
        let place = number / 10
        let kind = number % 10
        number += step == 1 ? 1 : Int.random(in: 1...step * 2 - 1, using: &generator)
        let value: UInt8 = kind < 8 ? bytes[place] ^ 1 << UInt8(kind) : kind == 8 ? 0 : 0xFF
        guard value != bytes[place] else { continue }
        var image = store.image
        image.poke(file, at: place, [value])
        let trial = Trial(store: store, image: image, damage: "\(file) byte \(place): \(bytes[place]) -> \(value)")
        tally.add(try trial.check(isConfirmed: isConfirmed(place, of: file, in: store)))
        if number % 8 == 0 || SoakScale.factor > 1 {
          try trial.checkSalvage()
          tally.addSalvage()
        }
      }
    }
    print(tally.line("every bit", store))
  }

  /// Whether a sync had confirmed the byte: all but the space ahead and what the last promise does not cover.
  private func isConfirmed(_ place: Int, of file: String, in store: SampleStore) -> Bool {
    if file.hasSuffix("META") { return true }
    guard let last = store.commits.last, file == last.file else { return true }
    let base = last.endLSN.rawValue - UInt64(last.range.upperBound)
    return base + UInt64(place) < store.promise(in: store.image).rawValue
  }
}
