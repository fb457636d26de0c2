/// The name of a segment file: `seg-<ordinal, 20 digits>-<id, 16 hex digits>.log`.
///
/// The name repeats what the header inside says; a file whose name and header differ is not a segment of this store.
@_spi(Engine) public struct SegmentFileName: Hashable, Sendable, CustomStringConvertible {
  public var ordinal: UInt64
  public var id: UInt64

  public init(ordinal: UInt64, id: UInt64) {
    self.ordinal = ordinal
    self.id = id
  }

  public init?(_ name: String) {
    guard let fields = numberedFields(of: name, prefix: "seg-", suffix: ".log") else { return nil }
    self.init(ordinal: fields.number, id: fields.id)
  }

  public var description: String { "seg-\(twentyDigits(ordinal))-\(hexadecimal(id)).log" }
  /// The name it has until its header is durable.
  var temporary: String { description + ".tmp" }
}

/// The name of a layer file: `layer-<last sequence, 20 digits>-<id, 16 hex digits>.lyr`.
@_spi(Engine) public struct LayerFileName: Hashable, Sendable, CustomStringConvertible {
  public var lastSequence: SequenceNumber
  public var id: UInt64

  public init(lastSequence: SequenceNumber, id: UInt64) {
    self.lastSequence = lastSequence
    self.id = id
  }

  public init?(_ name: String) {
    guard let fields = numberedFields(of: name, prefix: "layer-", suffix: ".lyr") else { return nil }
    self.init(lastSequence: SequenceNumber(fields.number), id: fields.id)
  }

  public var description: String { "layer-\(twentyDigits(lastSequence.rawValue))-\(hexadecimal(id)).lyr" }
}

private func twentyDigits(_ number: UInt64) -> String {
  let digits = String(number)
  return String(repeating: "0", count: 20 - digits.count) + digits
}

/// Splits `<prefix><20 decimal digits>-<16 lower-case hex digits><suffix>`; nil for any other spelling.
private func numberedFields(of name: String, prefix: String, suffix: String) -> (number: UInt64, id: UInt64)? {
  let bytes = Array(name.utf8)
  guard bytes.count == prefix.utf8.count + 37 + suffix.utf8.count, name.hasPrefix(prefix), name.hasSuffix(suffix)
  else { return nil }
  let fields = bytes[prefix.utf8.count..<bytes.count - suffix.utf8.count]
  let digits = fields.prefix(20)
  let hex = fields.suffix(16)
  guard digits.allSatisfy({ (0x30...0x39).contains($0) }), fields[fields.startIndex + 20] == UInt8(ascii: "-"),
    hex.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
    let number = UInt64(String(decoding: digits, as: UTF8.self)),
    let id = UInt64(String(decoding: hex, as: UTF8.self), radix: 16)
  else { return nil }
  return (number, id)
}
