@_spi(Engine) public import StrandlineLog

/// One application event in a stream.
public struct StreamEvent: Hashable, Sendable {
  public var stream: String
  /// 1 for the first event of the stream, one more for each.
  public var version: UInt64
  /// The application's name for the kind of event.
  public var type: String
  public var payload: Row
  /// The commit that wrote it.
  public var sequence: SequenceNumber
}

// .stream      key = stream name, 0 escaped as 00 FF, ended by 00 00 | version u64 big-endian
//              value = type: length varint, UTF-8 | payload: a row whose cells are named, as an encoded object
// .streamHead  key = stream name;  value = version varint

extension StreamEvent {
  init(key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, position sequence: SequenceNumber)
    throws(StoreError)
  {
    guard key.count >= 10, let name = Self.unescaped(key[..<(key.count - 8)]) else {
      throw .undecodable(what: "an event", reason: "its key has \(key.count) bytes")
    }
    var offset = 0
    guard let length = Varint.read(value, at: &offset), length <= UInt64(value.count - offset) else {
      throw .undecodable(what: "an event of \(name)", reason: "its type is cut short")
    }
    stream = name
    version = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
    type = String(decoding: value[offset..<offset + Int(length)], as: UTF8.self)
    payload = try Row(encodedObject: UnsafeRawBufferPointer(rebasing: value[(offset + Int(length))...]))
    self.sequence = sequence
  }

  /// The key of a stream's events without the version.
  static func keyStart(_ stream: String) -> [UInt8] {
    var key: [UInt8] = []
    for byte in stream.utf8 {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    return key + [0, 0]
  }

  static func key(_ stream: String, version: UInt64) -> StoreKey {
    var key = keyStart(stream)
    withUnsafeBytes(of: version.bigEndian) { key.append(contentsOf: $0) }
    return StoreKey(KeyPrefix(.stream), key)
  }

  static func headKey(_ stream: String) -> StoreKey { StoreKey(KeyPrefix(.streamHead), Array(stream.utf8)) }

  private static func unescaped(_ bytes: Slice<UnsafeRawBufferPointer>) -> String? {
    guard bytes.count >= 2, bytes.suffix(2).allSatisfy({ $0 == 0 }) else { return nil }
    var name: [UInt8] = []
    var isEscape = false
    for byte in bytes.dropLast(2) {
      if isEscape {
        guard byte == 0xFF else { return nil }
        isEscape = false
        continue
      }
      name.append(byte)
      isEscape = byte == 0
    }
    return String(decoding: name, as: UTF8.self)
  }
}
