/// Writes JSON piece by piece into a buffer, without a tree in memory.
///
/// Commas, and line breaks in the ``Layout/document`` layout, are its business; that names and values alternate is the
/// caller's, and checked.
struct JSONWriter {
  enum Layout {
    /// One line, no blanks: JSON Lines.
    case line
    /// Indented by two, for `--json`.
    case document
  }

  /// What was written so far. The owner may take it out at any time.
  var bytes: [UInt8] = []
  private let layout: Layout
  /// One entry for each open object or array.
  private var open: [(isObject: Bool, count: Int)] = []
  private var followsName = false

  init(_ layout: Layout = .line) { self.layout = layout }

  mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    beginContainer("{", isObject: true)
    try body(&self)
    endContainer("}")
  }

  mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
    beginContainer("[", isObject: false)
    try body(&self)
    endContainer("]")
  }

  /// The name of the value that is written next.
  mutating func name(_ name: String) {
    precondition(open.last?.isObject == true && !followsName, "a name belongs in an object, in front of its value")
    separate()
    quoted(name)
    append(layout == .line ? ":" : ": ")
    followsName = true
  }

  mutating func value(_ text: String) {
    beginValue()
    quoted(text)
  }

  mutating func value(_ number: some FixedWidthInteger) {
    beginValue()
    append(String(number))
  }

  /// Infinities and NaN have no JSON form and become null.
  mutating func value(_ number: Double) {
    beginValue()
    append(number.isFinite ? "\(number)" : "null")
  }

  mutating func value(_ flag: Bool) {
    beginValue()
    append(flag ? "true" : "false")
  }

  /// A whole value that is JSON already.
  mutating func value(json: String) {
    beginValue()
    append(json)
  }

  mutating func null() {
    beginValue()
    append("null")
  }

  mutating func field(_ name: String, _ text: String?) {
    self.name(name)
    if let text { value(text) } else { null() }
  }

  mutating func field(_ name: String, _ number: some FixedWidthInteger) {
    self.name(name)
    value(number)
  }

  mutating func field(_ name: String, _ number: (some FixedWidthInteger)?) {
    self.name(name)
    if let number { value(number) } else { null() }
  }

  mutating func field(_ name: String, _ number: Double) {
    self.name(name)
    value(number)
  }

  mutating func field(_ name: String, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// Bytes under `name` as text if they are UTF-8, else under `name` + `Hex` as hexadecimal digits.
  mutating func field(_ name: String, utf8OrHex bytes: some Collection<UInt8>) {
    if let text = String(validating: bytes, as: UTF8.self) {
      field(name, text)
    } else {
      field(name + "Hex", hex: bytes)
    }
  }

  mutating func field(_ name: String, hex bytes: some Collection<UInt8>) {
    self.name(name)
    beginValue()
    append("\"")
    for byte in bytes {
      self.bytes.append(Self.digits[Int(byte >> 4)])
      self.bytes.append(Self.digits[Int(byte & 15)])
    }
    append("\"")
  }

  /// Ends a line of JSON Lines, or the document.
  mutating func endLine() {
    precondition(open.isEmpty && !followsName, "a line ends behind a whole value")
    append("\n")
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private mutating func beginContainer(_ bracket: String, isObject: Bool) {
    beginValue()
    append(bracket)
    open.append((isObject, 0))
  }

  private mutating func endContainer(_ bracket: String) {
    let closed = open.removeLast()
    if layout == .document, closed.count > 0 { breakLine() }
    append(bracket)
  }

  private mutating func beginValue() {
    if followsName {
      followsName = false
    } else if !open.isEmpty {
      precondition(!open[open.count - 1].isObject, "a value in an object needs a name")
      separate()
    }
  }

  /// The comma in front of all but the first, and the line break.
  private mutating func separate() {
    if open[open.count - 1].count > 0 { append(",") }
    open[open.count - 1].count += 1
    if layout == .document { breakLine() }
  }

  private mutating func breakLine() {
    append("\n")
    append(String(repeating: "  ", count: open.count))
  }

  private mutating func quoted(_ text: String) {
    append("\"")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): append("\\\"")
      case UInt8(ascii: "\\"): append("\\\\")
      case UInt8(ascii: "\n"): append("\\n")
      case UInt8(ascii: "\r"): append("\\r")
      case UInt8(ascii: "\t"): append("\\t")
      // DEL is allowed by JSON; a terminal may still act on it.
      case 0..<0x20, 0x7F:
        append("\\u00")
        bytes.append(Self.digits[Int(byte >> 4)])
        bytes.append(Self.digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    append("\"")
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

extension Output {
  /// Hands over what `json` holds and leaves it empty.
  func write(_ json: inout JSONWriter) throws(OutputError) {
    let bytes = json.bytes
    json.bytes.removeAll(keepingCapacity: true)
    try write(bytes)
  }
}
