/// Keys of an engine with one ordered key space: a letter in front tells rows, outbox and pending notes apart.
struct SpacedKey: ~Copyable {
  enum Space: UInt8 {
    case outbox = 0x6F
    case pending = 0x70
    case row = 0x72
  }

  static let rowKeyByteCount = 1 + RowBytes.keyByteCount
  static let outboxKeyByteCount = 1 + MemoryLayout<UInt64>.size

  let bytes = UnsafeMutableRawPointer.allocate(byteCount: 32, alignment: 8)

  deinit { bytes.deallocate() }

  var chars: UnsafePointer<CChar> { UnsafePointer(bytes.assumingMemoryBound(to: CChar.self)) }

  func set(_ space: Space, _ key: UnsafeRawPointer) {
    bytes.storeBytes(of: space.rawValue, as: UInt8.self)
    (bytes + 1).copyMemory(from: key, byteCount: RowBytes.keyByteCount)
  }

  func setOutbox(_ sequence: UInt64) {
    bytes.storeBytes(of: Space.outbox.rawValue, as: UInt8.self)
    bytes.storeBytes(of: sequence.bigEndian, toByteOffset: 1, as: UInt64.self)
  }

  /// Only the letter: in front of every key of the space.
  func setStart(of space: Space) { bytes.storeBytes(of: space.rawValue, as: UInt8.self) }

  static func sequence(_ outboxKey: UnsafeRawPointer) -> UInt64 {
    UInt64(bigEndian: (outboxKey + 1).loadUnaligned(as: UInt64.self))
  }
}

/// An outbox entry of an engine without columns: the row's key, then the change.
enum OutboxEntry {
  static func write(_ key: UnsafeRawPointer, _ change: UnsafeRawBufferPointer, to bytes: UnsafeMutableRawPointer) -> Int
  {
    bytes.copyMemory(from: key, byteCount: RowBytes.keyByteCount)
    if let base = change.baseAddress {
      (bytes + RowBytes.keyByteCount).copyMemory(from: base, byteCount: change.count)
    }
    return RowBytes.keyByteCount + change.count
  }

  static func change(_ entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: entry.dropFirst(RowBytes.keyByteCount))
  }
}
