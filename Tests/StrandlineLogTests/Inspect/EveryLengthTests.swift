import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Each file of small stores cut at every length, and grown.
struct EveryLengthTests {
  private static let caseCount = 400

  @Test(arguments: SampleStore.all)
  func `a file of another length is refused or cut, and salvage keeps what is in it`(_ store: SampleStore) throws {
    var tally = Tally()
    for file in store.image.files(below: SampleStore.path) where !file.hasSuffix("LOCK") {
      let bytes = try #require(store.image.bytes(of: file))
      let step = SoakScale.stride(of: bytes.count, running: Self.caseCount)
      var generator = SeededGenerator(seed: UInt64(bytes.count))
      var length = 0
      while length < bytes.count {
        var image = store.image
        image.edit(file) { $0.removeLast($0.count - length) }
        let trial = Trial(store: store, image: image, damage: "\(file) cut to \(length) of \(bytes.count) bytes")
        tally.add(try trial.check())
        if file.hasSuffix("META") || length % 5 == 0 || SoakScale.factor > 1 {
          try trial.checkSalvage()
          tally.addSalvage()
        }
        length += step == 1 ? 1 : Int.random(in: 1...step * 2 - 1, using: &generator)
      }
      for count in [1, 7, 8, 4096] {
        for isGarbage in [false, true] {
          var image = store.image
          let more = isGarbage ? generator.bytes(count) : [UInt8](repeating: 0, count: count)
          image.edit(file) { $0 += more }
          let trial = Trial(
            store: store, image: image, damage: "\(file) grown by \(count) \(isGarbage ? "random bytes" : "zeros")")
          tally.add(try trial.check())
          try trial.checkSalvage()
          tally.addSalvage()
        }
      }
    }
    print(tally.line("every length", store))
  }
}
