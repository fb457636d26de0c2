import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

struct SampleStoreTests {
  @Test(arguments: SampleStore.all)
  func `an undamaged store is fine, opens, and is salvaged whole`(_ store: SampleStore) throws {
    let trial = Trial(store: store, image: store.image, damage: "no damage")
    #expect(try trial.check() == .fine)
    try trial.checkSalvage { _ in true }
  }
}
