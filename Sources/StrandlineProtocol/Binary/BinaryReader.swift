@_spi(Engine) internal import Strandline
internal import StrandlineLog

/// Reads what ``BinaryWriter`` writes, from bytes of which nothing is trusted: every count is held against what is left before it
/// sizes or repeats anything.
struct BinaryReader {
  /// Arrays and objects inside one another that a value of a message may have; the same as in JSON, whose messages are objects themselves.
  private static let depthMax = 64

  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  private var names: [String] = []

  init(_ bytes: UnsafeRawBufferPointer) throws(MessageDefect) {
    self.bytes = bytes
    names = try list(elementByteCountMin: 1) { (reader) throws(MessageDefect) in try reader.text() }
  }

  func end() throws(MessageDefect) {
    guard offset == bytes.count else { throw defect("the message ends before its content does") }
  }

  mutating func flag() throws(MessageDefect) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw defect("0 or 1 is wanted")
    }
  }

  mutating func integer() throws(MessageDefect) -> Int64 { Varint.unZigZag(try varint()) }

  mutating func text() throws(MessageDefect) -> String {
    let units = try take(try count(elementByteCountMin: 1))
    guard let text = String(validating: units, as: UTF8.self) else { throw defect("a text is not UTF-8") }
    return text
  }

  mutating func name() throws(MessageDefect) -> String {
    let place = try varint()
    guard place < UInt64(names.count) else { throw defect("there is no name \(place)") }
    return names[Int(place)]
  }

  mutating func number() throws(MessageDefect) -> String {
    guard try !flag() else { return try text() }
    let number = try varint()
    guard number <= UInt64(Int64.max) else { throw defect("a number is too large") }
    return String(number)
  }

  mutating func optional<Wrapped>(
    _ read: (inout BinaryReader) throws(MessageDefect) -> Wrapped
  ) throws(MessageDefect) -> Wrapped? {
    try flag() ? try read(&self) : nil
  }

  mutating func list<Element>(
    elementByteCountMin: Int, _ read: (inout BinaryReader) throws(MessageDefect) -> Element
  ) throws(MessageDefect) -> [Element] {
    let count = try count(elementByteCountMin: elementByteCountMin)
    var elements: [Element] = []
    // The rest grows as it is read: an element in memory can be far larger than its bytes.
    elements.reserveCapacity(min(count, 1024))
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }

  /// - Parameter depth: objects and arrays around the members, their own object counted.
  mutating func members(depth: Int) throws(MessageDefect) -> [String: Value] {
    guard depth <= Self.depthMax else { throw tooDeep }
    let count = try count(elementByteCountMin: 2)
    var members: [String: Value] = [:]
    members.reserveCapacity(min(count, 1024))
    var last = -1
    for _ in 0..<count {
      let place = try varint()
      guard place < UInt64(names.count), Int(place) > last else { throw defect("members are out of order") }
      last = Int(place)
      let value = try value(depth: depth)
      guard members.updateValue(value, forKey: names[last]) == nil else {
        throw defect("the name \"\(names[last])\" comes twice")
      }
    }
    return members
  }

  /// - Parameter depth: objects and arrays around the value.
  mutating func value(depth: Int) throws(MessageDefect) -> Value {
    guard let kind = BinaryValueKind(rawValue: try byte()) else { throw defect("no value begins like this") }
    switch kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .integer: return .int(try integer())
    case .decimal:
      let digits = try text()
      guard Int64(digits) == nil, WholeNumber(digits)?.description == digits else {
        throw defect("no whole number beyond 64 bits")
      }
      return .decimal(digits)
    case .double:
      let number = Double(
        bitPattern: UInt64(littleEndian: try take(8).loadUnaligned(fromByteOffset: 0, as: UInt64.self)))
      guard number.isFinite else { throw defect("a number is not finite") }
      return .double(number)
    case .text: return .string(try text())
    case .array:
      guard depth < Self.depthMax else { throw tooDeep }
      return .array(
        try list(elementByteCountMin: 1) { (reader) throws(MessageDefect) in try reader.value(depth: depth + 1) })
    case .object: return .object(try members(depth: depth + 1))
    }
  }

  /// How many elements follow, of which each has so many bytes at least.
  private mutating func count(elementByteCountMin: Int) throws(MessageDefect) -> Int {
    let count = try varint()
    guard count <= UInt64((bytes.count - offset) / elementByteCountMin) else {
      throw defect("more is announced than follows")
    }
    return Int(count)
  }

  private mutating func byte() throws(MessageDefect) -> UInt8 {
    guard offset < bytes.count else { throw ended }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func take(_ count: Int) throws(MessageDefect) -> UnsafeRawBufferPointer {
    guard count <= bytes.count - offset else { throw ended }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  private mutating func varint() throws(MessageDefect) -> UInt64 {
    guard let number = Varint.read(bytes, at: &offset) else { throw defect("no number") }
    return number
  }

  private var ended: MessageDefect { defect("the content ends too early") }
  private var tooDeep: MessageDefect { defect("more than \(Self.depthMax) arrays and objects inside one another") }

  private func defect(_ reason: String) -> MessageDefect {
    MessageDefect(path: "byte \(offset) of the content", reason: reason)
  }
}
