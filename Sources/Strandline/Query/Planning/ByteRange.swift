/// Keys behind a prefix, from `lower` on and in front of `upper`; nil is the end of the prefix.
struct ByteRange: Hashable {
  var lower: [UInt8]
  var upper: [UInt8]?

  static let all = ByteRange(lower: [], upper: nil)

  /// Everything that begins with these bytes.
  init(beginningWith bytes: [UInt8]) {
    lower = bytes
    upper = Self.end(of: bytes)
  }

  init(lower: [UInt8], upper: [UInt8]?) {
    self.lower = lower
    self.upper = upper
  }

  var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// The first bytes behind all that begin with these; nil: nothing lies behind them.
  static func end(of bytes: [UInt8]) -> [UInt8]? {
    var end = bytes
    while let last = end.popLast() {
      if last < 0xFF {
        end.append(last + 1)
        return end
      }
    }
    return nil
  }

  func keyRange(in prefix: KeyPrefix) -> KeyRange {
    KeyRange(
      lower: StoreKey(prefix, lower),
      upper: upper.map { StoreKey(prefix, $0) } ?? StoreKey(KeyPrefix(rawValue: prefix.rawValue + 1)))
  }
}
