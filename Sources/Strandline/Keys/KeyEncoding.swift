@_spi(Engine) internal import StrandlineLog

/// Primary keys as bytes, in the order of their values: first column first, numbers and times by value, text and bytes by their bytes.
///
/// Integers, timestamps and UUIDs as OrderedBytes has them. Text and bytes stand as they are if they come last, else ended. So the key of
/// a lone UUID is its sixteen bytes, and that of a lone text its UTF-8.
enum KeyEncoding {
  /// Appends the key of a row.
  ///
  /// - Throws: ``StoreError/invalidKey(table:reason:)`` if a value is missing or not of its column's type;
  ///   ``StoreError/limitExceeded(_:)`` (`keyByteCount`). What was appended before that is to be thrown away.
  static func encode(
    _ values: [Value], as key: [KeyColumn], table: String, into bytes: inout [UInt8]
  ) throws(StoreError) {
    guard values.count == key.count else {
      throw .invalidKey(table: table, reason: "it has \(values.count) values for \(key.count) columns")
    }
    let start = bytes.count
    for index in key.indices {
      try append(values[index], as: key[index], isLast: index == key.count - 1, table: table, to: &bytes)
    }
    let byteCount = bytes.count - start
    guard byteCount <= StoreLimits.keyByteCountMax else {
      throw .limitExceeded(name: "keyByteCount", value: byteCount, maximum: StoreLimits.keyByteCountMax)
    }
  }

  /// What the keys of all rows begin with whose first key columns have these values, fewer than the key has.
  static func encodePrefix(
    _ values: [Value], as key: [KeyColumn], table: String, into bytes: inout [UInt8]
  ) throws(StoreError) {
    precondition(values.count < key.count, "a prefix is shorter than the key")
    for index in values.indices { try append(values[index], as: key[index], isLast: false, table: table, to: &bytes) }
  }

  private static func append(
    _ value: Value, as column: KeyColumn, isLast: Bool, table: String, to bytes: inout [UInt8]
  ) throws(StoreError) {
    if value.type == column.type.columnType {
      append(value, isLast: isLast, to: &bytes)
      return
    }
    if value.isNull { throw .invalidKey(table: table, reason: "\(column.name) has no value") }
    let found = value.type?.rawValue ?? "null"
    throw .invalidKey(table: table, reason: "\(column.name) is \(column.type.rawValue) and was given \(found)")
  }

  /// Appends one value of a key; the caller has seen to its type. For the bounds of ranges.
  static func append(_ value: Value, isLast: Bool, to bytes: inout [UInt8]) {
    switch value {
    case .int(let number), .timestamp(let number): OrderedBytes.append(number, to: &bytes)
    case .uuid(let uuid): OrderedBytes.append(uuid, to: &bytes)
    case .string(let text):
      let units = text.utf8Span.span
      units.withUnsafeBytes { append($0, isLast: isLast, to: &bytes) }
    case .bytes(let content): content.withUnsafeBytes { append($0, isLast: isLast, to: &bytes) }
    default: preconditionFailure("a key holds integers, times, UUIDs, text and bytes")
    }
  }

  private static func append(_ content: UnsafeRawBufferPointer, isLast: Bool, to bytes: inout [UInt8]) {
    if isLast { bytes.append(contentsOf: content) } else { OrderedBytes.appendEnded(content, to: &bytes) }
  }

  /// Nil if the bytes are no key of these columns.
  static func decode(_ bytes: UnsafeRawBufferPointer, as key: [KeyColumn]) -> [Value]? {
    var values: [Value] = []
    values.reserveCapacity(key.count)
    var offset = 0
    for (index, column) in key.enumerated() {
      guard let value = read(column.type, bytes, at: &offset, isLast: index == key.count - 1) else { return nil }
      values.append(value)
    }
    return offset == bytes.count ? values : nil
  }

  private static func read(
    _ type: KeyType, _ bytes: UnsafeRawBufferPointer, at offset: inout Int, isLast: Bool
  ) -> Value? {
    switch type {
    case .int: OrderedBytes.readInteger(bytes, at: &offset).map { .int($0) }
    case .timestamp: OrderedBytes.readInteger(bytes, at: &offset).map { .timestamp($0) }
    case .uuid: OrderedBytes.readUUID(bytes, at: &offset).map { .uuid($0) }
    case .string:
      content(bytes, at: &offset, isLast: isLast).flatMap { text in
        text.withUnsafeBytes { String(validatedUTF8: $0) }.map { .string($0) }
      }
    case .bytes: content(bytes, at: &offset, isLast: isLast).map { .bytes($0) }
    }
  }

  private static func content(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, isLast: Bool) -> [UInt8]? {
    guard isLast else { return OrderedBytes.readEnded(bytes, at: &offset) }
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }

  /// The key for messages: the value itself, or a JSON array of several.
  static func text(of bytes: UnsafeRawBufferPointer, as key: [KeyColumn]) -> String {
    guard let values = decode(bytes, as: key) else {
      return "0x" + bytes.map { hexadecimal(UInt64($0)).suffix(2) }.joined()
    }
    return values.count == 1 ? text(of: values[0]) : "[" + values.map(\.json).joined(separator: ", ") + "]"
  }

  private static func text(of value: Value) -> String {
    if case .string(let text) = value { return text }
    let json = value.json
    return json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : json
  }

  static func isFixedWidth(_ key: [KeyColumn]) -> Bool { key.allSatisfy { $0.type != .string && $0.type != .bytes } }
}
