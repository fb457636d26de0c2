internal import FoundationEssentials

/// Where a value is being built: containers of the same place add to it one after another.
final class EncodedNode {
  enum Content {
    /// Nothing was encoded.
    case none
    case value(Value)
    case array([Content])
    case object([(name: String, content: Content)])
    /// Still being built by an encoder of its own.
    case node(EncodedNode)

    /// A place that nothing was put into is an empty object, as an empty type is.
    var value: Value {
      switch self {
      case .none: .object([:])
      case .value(let value): value
      case .array(let members): .array(members.map(\.value))
      case .object(let members):
        .object(Dictionary(members.map { ($0.name, $0.content.value) }, uniquingKeysWith: { _, last in last }))
      case .node(let node): node.content.value
      }
    }
  }

  var content = Content.none

  func append(_ content: Content, as name: String) {
    guard case .object(var members) = self.content else { return }
    self.content = .none  // So that the list has one owner.
    members.append((name, content))
    self.content = .object(members)
  }

  func append(_ content: Content) {
    guard case .array(var members) = self.content else { return }
    self.content = .none
    members.append(content)
    self.content = .array(members)
  }
}

struct ValueEncoder: Encoder {
  let node: EncodedNode
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .none = node.content { node.content = .object([]) }
    return KeyedEncodingContainer(MemberEncoder<Key>(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .none = node.content { node.content = .array([]) }
    return ElementEncoder(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    LoneValueEncoder(node: node, codingPath: codingPath)
  }

  /// What a value of any type becomes.
  static func content<Model: Encodable>(
    _ model: Model, _ codingPath: @autoclosure () -> [any CodingKey]
  ) throws -> EncodedNode.Content {
    if let value = try value(model, codingPath()) { return .value(value) }
    let path = codingPath()
    guard path.count <= NestedEncoding.depthMax else {
      throw EncodingError.invalidValue(
        model,
        .init(codingPath: path, debugDescription: "more than \(NestedEncoding.depthMax) values inside one another"))
    }
    let node = EncodedNode()
    try model.encode(to: ValueEncoder(node: node, codingPath: path))
    return node.content
  }

  /// The types that have a kind of value of their own; nil for all others.
  private static func value<Model: Encodable>(
    _ model: Model, _ codingPath: @autoclosure () -> [any CodingKey]
  ) throws -> Value? {
    func refused(_ reason: String) -> EncodingError {
      .invalidValue(model, .init(codingPath: codingPath(), debugDescription: reason))
    }
    // By type, not by cast: an empty array of anything would pass for bytes.
    let type = Model.self as any Encodable.Type
    if type == Value.self { return model as? Value }
    if type == UUIDBytes.self { return (model as? UUIDBytes).map { .uuid($0) } }
    if type == UUID.self { return (model as? UUID).map { .uuid(UUIDBytes($0)) } }
    if type == Data.self { return (model as? Data).map { .bytes(Array($0)) } }
    if type == [UInt8].self { return (model as? [UInt8]).map { .bytes($0) } }
    if type == Date.self, let date = model as? Date {
      guard let milliseconds = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
        throw refused("the date lies beyond all timestamps")
      }
      return .timestamp(milliseconds)
    }
    if type == Decimal.self, let decimal = model as? Decimal {
      guard DecimalDigits(decimal.description) != nil else { throw refused("the decimal is not a number") }
      return .decimal(decimal.description)
    }
    return nil
  }

  static func integer(_ number: some FixedWidthInteger) -> Value {
    Int64(exactly: number).map { .int($0) } ?? .decimal(String(number))
  }
}

/// Members of an object, and columns of a row.
private struct MemberEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  private func put(_ value: Value, _ key: Key) { node.append(.value(value), as: key.stringValue) }

  func encodeNil(forKey key: Key) { put(.null, key) }
  func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
  func encode(_ value: Double, forKey key: Key) { put(.double(value), key) }
  func encode(_ value: Float, forKey key: Key) { put(.double(Double(value)), key) }
  func encode(_ value: Int, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: Int8, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: Int16, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: Int32, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: Int64, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt8, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt16, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt32, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt64, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: Int128, forKey key: Key) { put(ValueEncoder.integer(value), key) }
  func encode(_ value: UInt128, forKey key: Key) { put(ValueEncoder.integer(value), key) }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    node.append(try ValueEncoder.content(value, codingPath + [key]), as: key.stringValue)
  }

  // An optional that is nil is written as null: an update must be able to clear a cell.

  func encodeIfPresent(_ value: Bool?, forKey key: Key) { put(value.map { value in .bool(value) } ?? .null, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) { put(value.map { value in .string(value) } ?? .null, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) { put(value.map { value in .double(value) } ?? .null, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) {
    put(value.map { value in .double(Double(value)) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) {
    put(value.map { value in ValueEncoder.integer(value) } ?? .null, key)
  }

  func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) } else { put(.null, key) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder(ValueCodingKey.name("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func encoder(_ key: some CodingKey) -> ValueEncoder {
    let node = EncodedNode()
    self.node.append(.node(node), as: key.stringValue)
    return ValueEncoder(node: node, codingPath: codingPath + [key])
  }
}

/// Members of an array.
private struct ElementEncoder: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  var count: Int { if case .array(let members) = node.content { members.count } else { 0 } }

  private func put(_ value: Value) { node.append(.value(value)) }

  func encodeNil() { put(.null) }
  func encode(_ value: Bool) { put(.bool(value)) }
  func encode(_ value: String) { put(.string(value)) }
  func encode(_ value: Double) { put(.double(value)) }
  func encode(_ value: Float) { put(.double(Double(value))) }
  func encode(_ value: Int) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int8) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int16) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int32) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int64) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt8) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt16) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt32) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt64) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int128) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt128) { put(ValueEncoder.integer(value)) }

  func encode(_ value: some Encodable) throws {
    node.append(try ValueEncoder.content(value, codingPath + [ValueCodingKey.index(count)]))
  }

  func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder() }

  private func encoder() -> ValueEncoder {
    let path = codingPath + [ValueCodingKey.index(count)]
    let node = EncodedNode()
    self.node.append(.node(node))
    return ValueEncoder(node: node, codingPath: path)
  }
}

/// One value in place of a container, as raw values and wrappers have it.
private struct LoneValueEncoder: SingleValueEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  private func put(_ value: Value) { node.content = .value(value) }

  func encodeNil() { put(.null) }
  func encode(_ value: Bool) { put(.bool(value)) }
  func encode(_ value: String) { put(.string(value)) }
  func encode(_ value: Double) { put(.double(value)) }
  func encode(_ value: Float) { put(.double(Double(value))) }
  func encode(_ value: Int) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int8) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int16) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int32) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int64) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt8) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt16) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt32) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt64) { put(ValueEncoder.integer(value)) }
  func encode(_ value: Int128) { put(ValueEncoder.integer(value)) }
  func encode(_ value: UInt128) { put(ValueEncoder.integer(value)) }
  func encode(_ value: some Encodable) throws { node.content = try ValueEncoder.content(value, codingPath) }
}
