@_spi(Engine) internal import StrandlineLog

// Arrays and objects as bodies of a row.
//
//   array    count varint | value …
//   object   count varint | (name length varint, name, value) …     names strictly ascending by their UTF-8 bytes
//   value    ValueKind byte | body; here each body tells its own end:
//            null, false, true: nothing · int, timestamp: zig-zag varint · double: eight bytes · uuid: sixteen ·
//            decimal, string, bytes: length varint, bytes · array, object: as above
enum NestedEncoding {
  /// Arrays and objects inside one another, the outermost counted.
  static let depthMax = 64

  /// Appends the body of an array or object.
  static func appendBody(_ value: Value, to bytes: inout [UInt8]) throws(StoreError) {
    try appendBody(value, depth: 1, to: &bytes)
  }

  /// Appends the body of an object with the row's cells as members.
  static func appendBody(_ row: Row, to bytes: inout [UInt8]) throws(StoreError) {
    appendVarint(UInt64(row.cells.count), to: &bytes)
    for cell in row.cells { try appendMember(cell.name, cell.value, depth: 1, to: &bytes) }
  }

  /// The row whose cells are the members of the object that fills `body`; nil if the bytes are none.
  static func decodeRow(_ body: UnsafeRawBufferPointer) -> Row? {
    var offset = 0
    guard let cells = readMembers(body, at: &offset, depth: 1), offset == body.count else { return nil }
    return Row(unordered: cells)
  }

  private static func appendMember(
    _ name: String, _ value: Value, depth: Int, to bytes: inout [UInt8]
  ) throws(StoreError) {
    appendText(name, to: &bytes)
    bytes.append(ValueKind(of: value).rawValue)
    try appendBody(value, depth: depth + 1, to: &bytes)
  }

  private static func appendBody(_ value: Value, depth: Int, to bytes: inout [UInt8]) throws(StoreError) {
    switch value {
    case .null, .bool: break
    case .int(let number), .timestamp(let number): appendVarint(Varint.zigZag(number), to: &bytes)
    case .double(let number): withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    case .uuid(let uuid):
      withUnsafeBytes(of: uuid.high.bigEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: uuid.low.bigEndian) { bytes.append(contentsOf: $0) }
    case .decimal(let text), .string(let text): appendText(text, to: &bytes)
    case .bytes(let content):
      appendVarint(UInt64(content.count), to: &bytes)
      bytes.append(contentsOf: content)
    case .array(let values):
      try check(depth: depth)
      appendVarint(UInt64(values.count), to: &bytes)
      for value in values {
        bytes.append(ValueKind(of: value).rawValue)
        try appendBody(value, depth: depth + 1, to: &bytes)
      }
    case .object(let members):
      try check(depth: depth)
      appendVarint(UInt64(members.count), to: &bytes)
      for name in Value.orderedNames(members) {
        try appendMember(name, members[name] ?? .null, depth: depth, to: &bytes)
      }
    }
    // Arrays of many copies of one text can be far larger than memory was needed to make them.
    guard bytes.count <= StoreLimits.recordByteCountMax else {
      throw .limitExceeded(name: "recordByteCount", value: bytes.count, maximum: StoreLimits.recordByteCountMax)
    }
  }

  private static func check(depth: Int) throws(StoreError) {
    guard depth <= depthMax else { throw .limitExceeded(name: "nestingDepth", value: depth, maximum: depthMax) }
  }

  private static func appendText(_ text: String, to bytes: inout [UInt8]) {
    appendVarint(UInt64(text.utf8.count), to: &bytes)
    bytes.append(contentsOf: text.utf8)
  }

  private static func appendVarint(_ number: UInt64, to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(byteCount: Varint.byteCountMax, alignment: 1) { room in
      let count = Varint.write(number, to: room.baseAddress.unsafelyUnwrapped)
      bytes.append(contentsOf: room[0..<count])
    }
  }

  /// The array or object that fills `body`; nil if the bytes are none.
  static func decode(_ kind: ValueKind, body: UnsafeRawBufferPointer) -> Value? {
    var offset = 0
    guard let value = read(kind, body, at: &offset, depth: 1), offset == body.count else { return nil }
    return value
  }

  private static func read(
    _ kind: ValueKind, _ bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int
  ) -> Value? {
    switch kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .int: return Varint.read(bytes, at: &offset).map { .int(Varint.unZigZag($0)) }
    case .timestamp: return Varint.read(bytes, at: &offset).map { .timestamp(Varint.unZigZag($0)) }
    case .double:
      guard bytes.count - offset >= 8 else { return nil }
      offset += 8
      return .double(Double(bitPattern: bytes.u64(offset - 8)))
    case .uuid:
      guard bytes.count - offset >= 16 else { return nil }
      offset += 16
      return .uuid(UUIDBytes(high: bytes.u64(offset - 16).byteSwapped, low: bytes.u64(offset - 8).byteSwapped))
    case .decimal: return readText(bytes, at: &offset).map { .decimal($0) }
    case .string: return readText(bytes, at: &offset).map { .string($0) }
    case .bytes: return readBytes(bytes, at: &offset).map { .bytes(Array($0)) }
    case .array: return readArray(bytes, at: &offset, depth: depth)
    case .object: return readObject(bytes, at: &offset, depth: depth)
    }
  }

  private static func readArray(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int) -> Value? {
    guard depth <= depthMax, let count = readCount(bytes, at: &offset, byteCountMin: 1) else { return nil }
    var values: [Value] = []
    values.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      guard let value = readValue(bytes, at: &offset, depth: depth + 1) else { return nil }
      values.append(value)
    }
    return .array(values)
  }

  private static func readObject(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int) -> Value? {
    guard let list = readMembers(bytes, at: &offset, depth: depth) else { return nil }
    var members: [String: Value] = [:]
    members.reserveCapacity(list.count)
    // Names that differ in bytes alone are one to a dictionary: no object was written with both.
    for member in list where members.updateValue(member.value, forKey: member.name) != nil { return nil }
    return .object(members)
  }

  private static func readMembers(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int) -> [Row.Cell]? {
    guard depth <= depthMax, let count = readCount(bytes, at: &offset, byteCountMin: 2) else { return nil }
    var members: [Row.Cell] = []
    members.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      guard let name = readText(bytes, at: &offset) else { return nil }
      if let last = members.last, UTF8Order.compare(last.name, name) >= 0 { return nil }
      guard let value = readValue(bytes, at: &offset, depth: depth + 1) else { return nil }
      members.append(Row.Cell(name: name, value: value))
    }
    return members
  }

  private static func readValue(_ bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int) -> Value? {
    guard offset < bytes.count, let kind = ValueKind(rawValue: bytes[offset]) else { return nil }
    offset += 1
    return read(kind, bytes, at: &offset, depth: depth)
  }

  /// A count that what is left can hold.
  private static func readCount(
    _ bytes: UnsafeRawBufferPointer, at offset: inout Int, byteCountMin: Int
  ) -> Int? {
    guard let count = Varint.read(bytes, at: &offset), count <= UInt64((bytes.count - offset) / byteCountMin) else {
      return nil
    }
    return Int(count)
  }

  private static func readBytes(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> UnsafeRawBufferPointer? {
    guard let count = readCount(bytes, at: &offset, byteCountMin: 1) else { return nil }
    offset += count
    return bytes.slice(offset - count, count)
  }

  private static func readText(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) -> String? {
    readBytes(bytes, at: &offset).flatMap(String.init(validatedUTF8:))
  }
}

extension String {
  /// Nil unless the bytes are UTF-8.
  @inline(__always)
  init?(validatedUTF8 bytes: UnsafeRawBufferPointer) {
    let units = Span<UInt8>(_unsafeElements: bytes.bindMemory(to: UInt8.self))
    guard let text = try? UTF8Span(validating: units) else { return nil }
    self.init(copying: text)
  }
}
