internal import Glibc

/// One version in a memory layer's arena, by its address. Lives as long as its layer.
//
//   byte 0          8          16                                           24            8-aligned
//        +----------+----------+--------------------------------------------+-----+-------+- - -+
//        | previous | sequence | shape: prefix 24 bits | key length 13 bits | key | value | pad |
//        |          |          | value length 25 bits | deleted | withdrawn |     |       |     |
//        +----------+----------+--------------------------------------------+-----+-------+- - -+
//
// `previous` is the address of the key's next older version, zero for none. Nothing of a record changes once it is published, but
// for the bit `withdrawn`: the version's commit failed, or wrote the key again. It is no version then; scans pass it over.
struct MemoryRecord {
  let address: UnsafeMutableRawPointer

  static let headerByteCount = 24
  private static let sequenceOffset = 8
  private static let shapeOffset = 16
  private static let keyLengthShift: UInt64 = 24
  private static let valueLengthShift: UInt64 = 37
  private static let deletedBit: UInt64 = 1 << 62
  private static let withdrawnBit: UInt64 = 1 << 63
  static let keyByteCountMax = 1 << 13 - 1
  static let valueByteCountMax = 1 << 25 - 1

  @inline(__always)
  init(_ address: UnsafeMutableRawPointer) { self.address = address }

  @inline(__always)
  init?(word: UInt64) {
    guard let address = UnsafeMutableRawPointer(word: word) else { return nil }
    self.address = address
  }

  /// What the record takes in an arena.
  @inline(__always)
  static func byteCount(key: Int, value: Int) -> Int { (headerByteCount + key + value + 7) & ~7 }

  /// Writes a whole record, before anyone else can see it.
  @inline(__always)
  static func fill(
    _ address: UnsafeMutableRawPointer, key: KeyView, sequence: UInt64, value: UnsafeRawBufferPointer?
  ) {
    let valueByteCount = value?.count ?? 0
    var shape = UInt64(key.prefix.rawValue)
    shape |= UInt64(key.bytes.count) << keyLengthShift
    shape |= UInt64(valueByteCount) << valueLengthShift
    if value == nil { shape |= deletedBit }
    address.storeBytes(of: 0, as: UInt64.self)
    address.storeBytes(of: sequence, toByteOffset: sequenceOffset, as: UInt64.self)
    address.storeBytes(of: shape, toByteOffset: shapeOffset, as: UInt64.self)
    let bytes = address + headerByteCount
    if let key = key.bytes.baseAddress { memcpy(bytes, key, keyByteCount(shape)) }
    if let value = value?.baseAddress { memcpy(bytes + keyByteCount(shape), value, valueByteCount) }
  }

  @inline(__always)
  private static func keyByteCount(_ shape: UInt64) -> Int { Int(truncatingIfNeeded: shape >> keyLengthShift & 0x1FFF) }

  @inline(__always)
  private static func valueByteCount(_ shape: UInt64) -> Int {
    Int(truncatingIfNeeded: shape >> valueLengthShift & 0x1FF_FFFF)
  }

  @inline(__always)
  private var shape: UInt64 { address.loadRelaxed(at: Self.shapeOffset) }

  /// Address of the next older version of the key, or zero.
  @inline(__always)
  var previous: UInt64 { address.load(as: UInt64.self) }

  @inline(__always)
  var sequence: UInt64 { address.load(fromByteOffset: Self.sequenceOffset, as: UInt64.self) }

  @inline(__always)
  var isWithdrawn: Bool { shape & Self.withdrawnBit != 0 }

  /// Before the record is in the table.
  @inline(__always)
  func setPrevious(_ previous: UInt64) { address.storeBytes(of: previous, as: UInt64.self) }

  /// For the writer.
  func withdraw() { address.storeRelaxed(shape | Self.withdrawnBit, at: Self.shapeOffset) }

  @inline(__always)
  var byteCount: Int {
    let shape = shape
    return Self.byteCount(key: Self.keyByteCount(shape), value: Self.valueByteCount(shape))
  }

  @inline(__always)
  var key: KeyView {
    let shape = shape
    return KeyView(
      prefix: KeyPrefix(rawValue: UInt32(truncatingIfNeeded: shape & 0xFF_FFFF)),
      bytes: UnsafeRawBufferPointer(start: address + Self.headerByteCount, count: Self.keyByteCount(shape)))
  }

  /// Nil: the commit deleted the key.
  @inline(__always)
  var value: UnsafeRawBufferPointer? {
    let shape = shape
    if shape & Self.deletedBit != 0 { return nil }
    return UnsafeRawBufferPointer(
      start: address + Self.headerByteCount + Self.keyByteCount(shape), count: Self.valueByteCount(shape))
  }

  @inline(__always)
  var view: VersionView { VersionView(key: key, sequence: sequence, value: value) }

  @inline(__always)
  func holds(_ key: KeyView) -> Bool {
    let own = self.key
    guard own.prefix == key.prefix, own.bytes.count == key.bytes.count else { return false }
    guard key.bytes.count > 0, let one = own.bytes.baseAddress, let other = key.bytes.baseAddress else { return true }
    if key.bytes.count == 16 {
      return one.load(as: UInt64.self) == other.loadUnaligned(as: UInt64.self)
        && one.load(fromByteOffset: 8, as: UInt64.self) == other.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }
    return memcmp(one, other, key.bytes.count) == 0
  }
}
