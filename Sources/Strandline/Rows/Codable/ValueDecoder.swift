internal import FoundationEssentials

struct ValueDecoder: Decoder {
  let value: Value
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch("an object") }
    return KeyedDecodingContainer(MemberDecoder<Key>(members: .object(members), codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let members) = value else { throw mismatch("an array") }
    return ElementDecoder(members: members, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { LoneValueDecoder(decoder: self) }

  // MARK: Values

  private func mismatch(_ expected: String) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "\(value.type?.rawValue ?? "null") where \(expected) should be")
    return value.isNull ? .valueNotFound(Value.self, context) : .typeMismatch(Value.self, context)
  }

  private func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: reason))
  }

  private func converted(to type: ColumnType) throws -> Value {
    guard !value.isNull, let converted = value.converted(to: type) else { throw mismatch("\(type.rawValue)") }
    return converted
  }

  func bool() throws -> Bool {
    guard case .bool(let flag) = value else { throw mismatch("bool") }
    return flag
  }

  /// Text as it is, and that of values that a column makes of text.
  func string() throws -> String {
    switch value {
    case .string(let text), .decimal(let text): return text
    case .uuid(let uuid): return uuid.description
    case .timestamp(let milliseconds): return Timestamp.text(milliseconds)
    case .bytes(let bytes):
      var text: [UInt8] = []
      Base64.append(bytes, to: &text)
      return String(decoding: text, as: UTF8.self)
    default: throw mismatch("string")
    }
  }

  func double() throws -> Double {
    guard case .double(let number) = try converted(to: .double) else { throw mismatch("double") }
    return number
  }

  func float() throws -> Float {
    let number = try double()
    let float = Float(number)
    guard float.isFinite || !number.isFinite else { throw corrupted("\(number) does not fit into a Float") }
    return float
  }

  func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number?
    switch value {
    case .int(let integer): number = Number(exactly: integer)
    case .double(let double): number = Number(exactly: double)
    case .decimal(let text):
      if let wide = Number(text) { return wide }
      guard case .int(let integer)? = value.converted(to: .int) else { throw notFitting(type) }
      number = Number(exactly: integer)
    default: throw mismatch("int")
    }
    guard let number else { throw notFitting(type) }
    return number
  }

  private func notFitting<Number>(_ type: Number.Type) -> DecodingError {
    corrupted("\(value.json) does not fit into \(type)")
  }

  func model<Model: Decodable>(_ type: Model.Type) throws -> Model {
    guard let result = try special(type) else {
      guard codingPath.count <= NestedEncoding.depthMax else {
        throw corrupted("more than \(NestedEncoding.depthMax) values inside one another")
      }
      return try Model(from: self)
    }
    guard let model = result as? Model else { throw mismatch("\(type)") }
    return model
  }

  /// Types that have a kind of value of their own; nil for all others.
  private func special(_ type: any Decodable.Type) throws -> (any Decodable)? {
    if type == Value.self { return value }
    if type == UUID.self || type == UUIDBytes.self {
      guard case .uuid(let uuid) = try converted(to: .uuid) else { throw mismatch("uuid") }
      return type == UUID.self ? UUID(uuid) : uuid
    }
    if type == Date.self {
      guard case .timestamp(let milliseconds) = try converted(to: .timestamp) else { throw mismatch("timestamp") }
      return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
    if type == Data.self || type == [UInt8].self {
      guard case .bytes(let bytes) = try converted(to: .bytes) else { throw mismatch("bytes") }
      return type == Data.self ? Data(bytes) : bytes
    }
    if type == Decimal.self {
      guard case .decimal(let text) = try converted(to: .decimal) else { throw mismatch("decimal") }
      guard let decimal = Decimal(string: text), DecimalDigits(decimal.description) == DecimalDigits(text) else {
        throw corrupted("\(text) has more digits than a Decimal holds")
      }
      return decimal
    }
    return nil
  }
}

/// Members of an object, or columns of a row.
struct MemberDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  enum Members {
    case row(Row)
    case object([String: Value])

    subscript(name: String) -> Value? {
      switch self {
      case .row(let row): row[name]
      case .object(let members): members[name]
      }
    }

    var names: [String] {
      switch self {
      case .row(let row): row.columns
      case .object(let members): Value.orderedNames(members)
      }
    }
  }

  let members: Members
  let codingPath: [any CodingKey]

  var allKeys: [Key] { members.names.compactMap { Key(stringValue: $0) } }
  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).value.isNull }

  private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "there is no value"))
    }
    return ValueDecoder(value: value, codingPath: codingPath + [key])
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder(key).bool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder(key).string() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder(key).double() }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder(key).float() }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder(key).integer(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder(key).integer(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder(key).integer(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder(key).integer(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder(key).integer(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder(key).integer(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder(key).integer(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder(key).integer(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder(key).integer(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder(key).integer(type) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decoder(key).integer(type) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decoder(key).integer(type) }
  func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model { try decoder(key).model(type) }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(ValueCodingKey.name("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

/// Members of an array.
private struct ElementDecoder: UnkeyedDecodingContainer {
  let members: [Value]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(members: [Value], codingPath: [any CodingKey]) {
    self.members = members
    self.codingPath = codingPath
  }

  var count: Int? { members.count }
  var isAtEnd: Bool { currentIndex == members.count }

  /// Null counts as read, anything else stays.
  mutating func decodeNil() throws -> Bool {
    guard try decoder().value.isNull else { return false }
    currentIndex += 1
    return true
  }

  private func decoder() throws -> ValueDecoder {
    let path = codingPath + [ValueCodingKey.index(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(Value.self, .init(codingPath: path, debugDescription: "the array ends here"))
    }
    return ValueDecoder(value: members[currentIndex], codingPath: path)
  }

  private mutating func read<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
    let result = try body(decoder())
    currentIndex += 1
    return result
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try read { try $0.bool() } }
  mutating func decode(_ type: String.Type) throws -> String { try read { try $0.string() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try read { try $0.double() } }
  mutating func decode(_ type: Float.Type) throws -> Float { try read { try $0.float() } }
  mutating func decode(_ type: Int.Type) throws -> Int { try read { try $0.integer(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try read { try $0.integer(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try read { try $0.integer(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try read { try $0.integer(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read { try $0.integer(type) } }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try read { try $0.integer(type) } }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try read { try $0.integer(type) } }
  mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try read { try $0.model(type) } }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try read { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try read { try $0.unkeyedContainer() }
  }
  mutating func superDecoder() throws -> any Decoder { try read { $0 } }
}

/// One value in place of a container, as raw values and wrappers have it.
private struct LoneValueDecoder: SingleValueDecodingContainer {
  let decoder: ValueDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.value.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: String.Type) throws -> String { try decoder.string() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
  func decode(_ type: Float.Type) throws -> Float { try decoder.float() }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try decoder.integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.integer(type) }
  func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try decoder.model(type) }
}
