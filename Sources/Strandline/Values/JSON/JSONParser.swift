extension Value {
  /// Reads one JSON text (RFC 8259) in UTF-8.
  ///
  /// Numbers without fraction and exponent become integers, or decimals beyond 64 bits; all others become the nearest double. Two
  /// members with one name are an error, and so are more than 64 arrays and objects inside one another.
  ///
  /// - Throws: ``StoreError/coding(type:path:reason:)`` with the place in the text as path.
  public static func json(_ text: [UInt8]) throws(StoreError) -> Value {
    try text.span.bytes.withUnsafeBytes { (text) throws(StoreError) in try json(text) }
  }

  /// As ``json(_:)-([UInt8])``.
  public static func json(_ text: String) throws(StoreError) -> Value {
    try text.utf8Span.span.withUnsafeBytes { (text) throws(StoreError) in try json(text) }
  }

  /// As ``json(_:)-([UInt8])``.
  public static func json(_ text: UnsafeRawBufferPointer) throws(StoreError) -> Value {
    var parser = JSONParser(text: text)
    do { return try parser.document() } catch {
      throw .coding(type: "JSON", path: "byte \(parser.place)", reason: error.reason)
    }
  }
}

struct JSONParser {
  struct Defect: Error {
    var reason: String
  }

  private let text: UnsafeRawBufferPointer
  private(set) var place = 0

  init(text: UnsafeRawBufferPointer) { self.text = text }

  mutating func document() throws(Defect) -> Value {
    let result = try value(depth: 1)
    skipBlanks()
    guard place == text.count else { throw Defect(reason: "there is more behind the value") }
    return result
  }

  private mutating func value(depth: Int) throws(Defect) -> Value {
    skipBlanks()
    guard let byte = peek() else { throw Defect(reason: "the text ends where a value should be") }
    switch byte {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: throw Defect(reason: "no value begins like this")
    }
  }

  private mutating func object(depth: Int) throws(Defect) -> Value {
    try enter(depth: depth)
    var members: [String: Value] = [:]
    if skip(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      skipBlanks()
      guard peek() == UInt8(ascii: "\"") else { throw Defect(reason: "a member begins with its name in quotes") }
      let nameAt = place
      let name = try string()
      guard skip(UInt8(ascii: ":")) else { throw Defect(reason: "a colon belongs behind a member's name") }
      guard members[name] == nil else {
        place = nameAt
        throw Defect(
          reason: members.keys.containsExactly(name)
            ? "the name \"\(name)\" comes twice"
            : "the name \"\(name)\" comes twice: an object tells names apart as Unicode does, not by their bytes")
      }
      members[name] = try value(depth: depth + 1)
    } while skip(UInt8(ascii: ","))
    guard skip(UInt8(ascii: "}")) else { throw Defect(reason: "a comma or } belongs here") }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(Defect) -> Value {
    try enter(depth: depth)
    var values: [Value] = []
    if skip(UInt8(ascii: "]")) { return .array(values) }
    repeat { values.append(try value(depth: depth + 1)) } while skip(UInt8(ascii: ","))
    guard skip(UInt8(ascii: "]")) else { throw Defect(reason: "a comma or ] belongs here") }
    return .array(values)
  }

  private mutating func enter(depth: Int) throws(Defect) {
    guard depth <= NestedEncoding.depthMax else {
      throw Defect(reason: "more than \(NestedEncoding.depthMax) arrays and objects inside one another")
    }
    place += 1
  }

  private mutating func word(_ word: StaticString, _ value: Value) throws(Defect) -> Value {
    let isThere = word.withUTF8Buffer { word in
      text.count - place >= word.count && text[place..<place + word.count].elementsEqual(word)
    }
    guard isThere else { throw Defect(reason: "no value begins like this") }
    place += word.utf8CodeUnitCount
    return value
  }

  // MARK: Numbers

  private mutating func number() throws(Defect) -> Value {
    let start = place
    if peek() == UInt8(ascii: "-") { place += 1 }
    let firstDigit = peek()
    let wholeCount = skipDigits()
    guard wholeCount > 0 else { throw Defect(reason: "a digit belongs here") }
    guard wholeCount == 1 || firstDigit != UInt8(ascii: "0") else {
      place = start
      throw Defect(reason: "a number has a zero in front")
    }
    var isWhole = true
    if peek() == UInt8(ascii: ".") {
      isWhole = false
      place += 1
      guard skipDigits() > 0 else { throw Defect(reason: "a digit belongs behind the point") }
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      isWhole = false
      place += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { place += 1 }
      guard skipDigits() > 0 else { throw Defect(reason: "a digit belongs in the exponent") }
    }
    let digits = String(decoding: text[start..<place], as: UTF8.self)
    if isWhole { return Int64(digits).map { .int($0) } ?? .decimal(digits) }
    guard let number = Double(digits), number.isFinite else {
      place = start
      throw Defect(reason: "a number is too large")
    }
    return .double(number)
  }

  private mutating func skipDigits() -> Int {
    let start = place
    while let byte = peek(), 0x30...0x39 ~= byte { place += 1 }
    return place - start
  }

  // MARK: Strings

  private mutating func string() throws(Defect) -> String {
    place += 1
    let start = place
    while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { place += 1 }
    if peek() == UInt8(ascii: "\"") {
      place += 1
      return try string(UnsafeRawBufferPointer(rebasing: text[start..<place - 1]), at: start)
    }
    var units = Array(text[start..<place])
    while let byte = peek() {
      if byte == UInt8(ascii: "\"") {
        place += 1
        return try units.span.bytes.withUnsafeBytes { (units) throws(Defect) in try string(units, at: start) }
      }
      guard byte >= 0x20 else { throw Defect(reason: "a control character stands in a string") }
      place += 1
      if byte == UInt8(ascii: "\\") { try escape(to: &units) } else { units.append(byte) }
    }
    throw Defect(reason: "the text ends inside a string")
  }

  private mutating func string(_ units: UnsafeRawBufferPointer, at start: Int) throws(Defect) -> String {
    guard let string = String(validatedUTF8: units) else {
      place = start
      throw Defect(reason: "a string is not UTF-8")
    }
    return string
  }

  private mutating func escape(to units: inout [UInt8]) throws(Defect) {
    guard let byte = peek() else { throw Defect(reason: "the text ends inside a string") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(byte)
    case UInt8(ascii: "b"): units.append(0x08)
    case UInt8(ascii: "f"): units.append(0x0C)
    case UInt8(ascii: "n"): units.append(0x0A)
    case UInt8(ascii: "r"): units.append(0x0D)
    case UInt8(ascii: "t"): units.append(0x09)
    case UInt8(ascii: "u"): units.append(contentsOf: String(Character(try scalar())).utf8)
    default:
      place -= 1
      throw Defect(reason: "an unknown escape")
    }
  }

  /// What follows `\u`, and the second half of a surrogate pair.
  private mutating func scalar() throws(Defect) -> Unicode.Scalar {
    let start = place - 2
    let first = try hexUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, peek() == UInt8(ascii: "\\"), place + 1 < text.count, text[place + 1] == UInt8(ascii: "u") {
      place += 2
      let second = try hexUnit()
      if 0xDC00...0xDFFF ~= second,
        let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00)
      {
        return scalar
      }
    }
    place = start
    throw Defect(reason: "half a surrogate pair")
  }

  private mutating func hexUnit() throws(Defect) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(UnicodeScalar(byte)).hexDigitValue, byte < 0x80 else {
        throw Defect(reason: "four hex digits belong behind \\u")
      }
      unit = unit << 4 | UInt16(digit)
      place += 1
    }
    return unit
  }

  // MARK: Bytes

  private func peek() -> UInt8? { place < text.count ? text[place] : nil }

  private mutating func skipBlanks() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
  }

  /// Blanks, and the byte if it comes next.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard peek() == byte else { return false }
    place += 1
    return true
  }
}
