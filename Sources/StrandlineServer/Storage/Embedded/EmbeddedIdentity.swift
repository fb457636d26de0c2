@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog

/// What tells a store from every other one, and from its own copies.
struct EmbeddedIdentity: Sendable {
  private let identifier: StoreIdentifier
  private let incarnation: UInt64

  init(of store: Store) {
    let status = store.logStatus
    identifier = status.identifier
    incarnation = status.incarnation
  }

  /// 32 hex digits made of the identity, the resets so far and what the owner drew for a new history.
  func historyID(epoch: UInt64, salt: UInt64) -> String {
    var high = identifier.high
    var low = identifier.low
    for word in [incarnation, epoch, salt] {
      high = Self.mixed(high ^ word)
      low = Self.mixed(low ^ Self.mixed(word &+ high))
    }
    return hexadecimal(high) + hexadecimal(low)
  }

  /// The last step of SplitMix64: each bit of the word decides about each bit of the result.
  private static func mixed(_ word: UInt64) -> UInt64 {
    var bits = word &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
