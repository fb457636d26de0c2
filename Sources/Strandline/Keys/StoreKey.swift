internal import Glibc

/// The first three bytes of every key: its family and, big-endian, its table.
///
/// All families live in one key space, ordered by these bytes and then by the rest of the key.
struct KeyPrefix: Hashable, Comparable, Sendable {
  /// Family in bits 16 to 23, table in bits 0 to 15.
  var rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }
  init(_ family: Family, table: UInt16 = 0) { rawValue = UInt32(family.rawValue) << 16 | UInt32(table) }

  var familyNumber: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 16) }
  var table: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

  static func < (left: KeyPrefix, right: KeyPrefix) -> Bool { left.rawValue < right.rawValue }
}

/// Record kinds with a key shape of their own. Numbers are part of the format and are never used again for something else.
enum Family: UInt8, CaseIterable, Sendable {
  /// The store's own small facts.
  case meta = 0x01
  /// Tables with their columns and indexes, by table number.
  case catalog = 0x02
  /// Rows, by table and primary key.
  case row = 0x10
  /// Secondary index entries: table, index number, indexed values, primary key.
  case index = 0x20
  /// Application events: stream name, version.
  case stream = 0x30
  /// The newest version of each stream, by name.
  case streamHead = 0x31
  /// Where projections stand, by name.
  case projection = 0x38
}

/// A key that somebody else owns.
struct KeyView {
  var prefix: KeyPrefix
  /// The key behind the prefix: at most ``StoreLimits/keyByteCountMax`` bytes.
  var bytes: UnsafeRawBufferPointer

  /// Below, at or above zero as `left` comes before, is, or comes behind `right`.
  @inline(__always)
  static func compare(_ left: KeyView, _ right: KeyView) -> Int {
    if left.prefix != right.prefix { return left.prefix < right.prefix ? -1 : 1 }
    return compare(left.bytes, right.bytes)
  }

  @inline(__always)
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let count = min(left.count, right.count)
    if count > 0, let one = left.baseAddress, let other = right.baseAddress {
      let order = memcmp(one, other, count)
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }
}

/// A key with bytes of its own.
struct StoreKey: Hashable, Comparable, Sendable {
  var prefix: KeyPrefix
  var bytes: [UInt8]

  init(_ prefix: KeyPrefix, _ bytes: [UInt8] = []) {
    self.prefix = prefix
    self.bytes = bytes
  }

  init(copying key: KeyView) { self.init(key.prefix, Array(key.bytes)) }

  func withView<Result, Failure: Error>(_ body: (KeyView) throws(Failure) -> Result) throws(Failure) -> Result {
    let prefix = prefix
    return try bytes.span.bytes.withUnsafeBytes { (bytes) throws(Failure) in
      try body(KeyView(prefix: prefix, bytes: bytes))
    }
  }

  static func < (left: StoreKey, right: StoreKey) -> Bool {
    left.withView { one in right.withView { KeyView.compare(one, $0) } } < 0
  }
}

/// Keys from `lower` on and in front of `upper`; nil is the end of the key space.
struct KeyRange: Hashable, Sendable {
  var lower: StoreKey
  var upper: StoreKey?

  /// All keys of one family and table.
  static func all(_ prefix: KeyPrefix) -> KeyRange {
    KeyRange(lower: StoreKey(prefix), upper: StoreKey(KeyPrefix(rawValue: prefix.rawValue + 1)))
  }
}
