extension UUIDBytes: Codable {
  /// From its text. ``RowDecoder`` reads UUIDs themselves.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let uuid = UUIDBytes(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the text of a UUID")
    }
    self = uuid
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

/// ``RowEncoder`` and ``RowDecoder`` take values as they are; other coders see what JSON would hold.
extension Value: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .int(number)
    } else if let number = try? container.decode(Double.self) {
      self = .double(number)
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let values = try? container.decode([Value].self) {
      self = .array(values)
    } else {
      self = .object(try container.decode([String: Value].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .int(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .decimal(let text), .string(let text): try container.encode(text)
    case .uuid(let uuid): try container.encode(uuid.description)
    case .timestamp(let milliseconds): try container.encode(Timestamp.text(milliseconds))
    case .bytes(let bytes):
      var text: [UInt8] = []
      Base64.append(bytes, to: &text)
      try container.encode(String(decoding: text, as: UTF8.self))
    case .array(let values): try container.encode(values)
    case .object(let members): try container.encode(members)
    }
  }
}
