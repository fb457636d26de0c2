/// Writes rows as csv (RFC 4180, lines ended by a line feed): null is an empty field, an empty text a pair of quotes.
struct CSVText {
  private let columns: [String]

  init(columns: [String]) { self.columns = columns }

  func appendHeader(to text: inout [UInt8]) {
    for (place, column) in columns.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      Self.append(column[...].utf8, to: &text)
    }
    text.append(UInt8(ascii: "\n"))
  }

  func append(_ row: Row, to text: inout [UInt8]) {
    for (place, column) in columns.enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      if let value = row[column] { Self.append(value, to: &text) }
    }
    text.append(UInt8(ascii: "\n"))
  }

  private static func append(_ value: Value, to text: inout [UInt8]) {
    switch value {
    case .null: return
    case .string(let string): append(string[...].utf8, to: &text)
    case .bool, .int, .decimal, .double, .bytes, .uuid, .timestamp, .array, .object:
      var json: [UInt8] = []
      value.appendJSON(to: &json)
      if json.first == UInt8(ascii: "\"") { json = Array(json.dropFirst().dropLast()) }
      append(json, to: &text)
    }
  }

  private static func append(_ field: some Collection<UInt8>, to text: inout [UInt8]) {
    let isPlain =
      !field.isEmpty
      && !field.contains { byte in
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
          || byte == UInt8(ascii: "\r")
      }
    if isPlain { return text.append(contentsOf: field) }
    text.append(UInt8(ascii: "\""))
    for byte in field {
      if byte == UInt8(ascii: "\"") { text.append(byte) }
      text.append(byte)
    }
    text.append(UInt8(ascii: "\""))
  }
}
