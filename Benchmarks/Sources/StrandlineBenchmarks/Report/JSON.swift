/// A JSON value, as much of it as result lines need. Objects keep the order of their members.
enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(name: String, value: JSON)])

  subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var number: Double? { if case .number(let value) = self { value } else { nil } }
  var string: String? { if case .string(let value) = self { value } else { nil } }

  static func == (left: JSON, right: JSON) -> Bool { left.text == right.text }

  /// On one line.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let value): Self.text(value)
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { "\(Self.quoted($0.name)):\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }

  private static func text(_ value: Double) -> String {
    guard let whole = Int64(exactly: value), whole.magnitude < 1 << 53 else { return "\(value)" }
    return "\(whole)"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20:
        result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

/// Reads one JSON text.
struct JSONReader {
  struct Malformed: Error, Equatable { var offset: Int }

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  static func read(_ text: some StringProtocol) throws(Malformed) -> JSON {
    var reader = JSONReader(bytes: Array(text.utf8))
    let value = try reader.value()
    reader.skipSpace()
    guard reader.offset == reader.bytes.count else { throw Malformed(offset: reader.offset) }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  private mutating func take(_ byte: Character) -> Bool {
    skipSpace()
    guard next == byte.asciiValue else { return false }
    offset += 1
    return true
  }

  private mutating func require(_ byte: Character) throws(Malformed) {
    guard take(byte) else { throw Malformed(offset: offset) }
  }

  private mutating func value() throws(Malformed) -> JSON {
    skipSpace()
    depth += 1
    defer { depth -= 1 }
    guard let byte = next, depth < 64 else { throw Malformed(offset: offset) }
    switch byte {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func word(_ text: String, _ value: JSON) throws(Malformed) -> JSON {
    guard bytes[offset...].starts(with: text.utf8) else { throw Malformed(offset: offset) }
    offset += text.utf8.count
    return value
  }

  private mutating func number() throws(Malformed) -> JSON {
    let start = offset
    while let byte = next, "+-.eE0123456789".utf8.contains(byte) { offset += 1 }
    guard let value = Double(String(decoding: bytes[start..<offset], as: UTF8.self)), value.isFinite
    else { throw Malformed(offset: start) }
    return .number(value)
  }

  private mutating func array() throws(Malformed) -> JSON {
    try require("[")
    var values: [JSON] = []
    if take("]") { return .array(values) }
    repeat { values.append(try value()) } while take(",")
    try require("]")
    return .array(values)
  }

  private mutating func object() throws(Malformed) -> JSON {
    try require("{")
    var members: [(name: String, value: JSON)] = []
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      let name = try string()
      try require(":")
      members.append((name, try value()))
    } while take(",")
    try require("}")
    return .object(members)
  }

  private mutating func string() throws(Malformed) -> String {
    try require("\"")
    var text: [UInt8] = []
    while let byte = next {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = next else { throw Malformed(offset: offset) }
        offset += 1
        text.append(contentsOf: try unescaped(escaped))
      case 0..<0x20:
        throw Malformed(offset: offset - 1)
      default:
        text.append(byte)
      }
    }
    throw Malformed(offset: offset)
  }

  private mutating func unescaped(_ byte: UInt8) throws(Malformed) -> [UInt8] {
    switch byte {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "u"):
      guard offset + 4 <= bytes.count,
        let code = UInt32(String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw Malformed(offset: offset) }
      offset += 4
      return Array(String(Character(scalar)).utf8)
    default: throw Malformed(offset: offset - 1)
    }
  }
}
