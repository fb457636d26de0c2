import Strandline

/// Values and rows as text, safe to print on a terminal.
enum ValueText {
  /// JSON on one line.
  static func json(_ value: Value) -> String {
    var text: [UInt8] = []
    value.appendJSON(to: &text)
    return TerminalText.escapedJSON(String(decoding: text, as: UTF8.self))
  }

  static func json(_ row: Row) -> String {
    var text: [UInt8] = []
    row.appendJSON(to: &text)
    return TerminalText.escapedJSON(String(decoding: text, as: UTF8.self))
  }

  /// Texts as they are, everything else as JSON; null is nothing.
  static func cell(_ value: Value) -> String {
    switch value {
    case .null: return ""
    case .string(let text): return TerminalText.escaped(text)
    case .uuid, .timestamp, .decimal, .bytes: return String(json(value).dropFirst().dropLast())
    default: return json(value)
    }
  }

  /// The values of a key, one after another.
  static func key(_ values: [Value]) -> String { values.map(json).joined(separator: ", ") }
}

extension JSONWriter {
  mutating func field(_ name: String, _ value: Value) {
    self.name(name)
    self.value(json: ValueText.json(value))
  }

  mutating func field(_ name: String, _ row: Row?) {
    self.name(name)
    if let row { value(json: ValueText.json(row)) } else { null() }
  }

  mutating func field(_ name: String, key values: [Value]) { field(name, Value.array(values)) }

  mutating func field(_ name: String, words: [String: String]) {
    self.name(name)
    object { json in
      for (word, text) in words.sorted(by: { $0.key < $1.key }) { json.field(word, text) }
    }
  }
}
