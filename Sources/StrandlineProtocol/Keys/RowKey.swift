/// The text of a primary key on the wire and in the client's state: `pk`.
///
/// A lone key column is the text of its value. Several are a JSON array of their texts, `["12", "A7"]`, with a comma and a blank between
/// the members and only what JSON demands escaped, so one key has one text.
public enum RowKey {
  /// The text of one component: a text as it is, a whole number in plain decimal; UUIDs in lower case. Nil for everything else.
  public static func component(_ value: Value) -> String? {
    switch value {
    case .string(let text): lowercasedUUID(text)
    case .int(let number): String(number)
    case .decimal(let digits): WholeNumber(digits)?.description
    case .double(let number): WholeNumber(exactly: number)?.description
    default: nil
    }
  }

  /// The text, with the letters of a UUID (8-4-4-4-12 hex digits) in lower case; any other text as it is.
  public static func lowercasedUUID(_ text: String) -> String { UUIDBytes(text)?.description ?? text }

  /// A UUID in lower case, and a value that is none as it is.
  public static func lowercasedUUID(_ value: Value) -> Value {
    if case .string(let text) = value { .string(lowercasedUUID(text)) } else { value }
  }

  /// The key of components in key order. At least one.
  public static func text(of components: [String]) -> String {
    if components.count == 1 { return components[0] }
    var text = "["
    for (place, component) in components.enumerated() {
      text += place > 0 ? ", \"" : "\""
      for scalar in component.unicodeScalars { append(scalar, to: &text) }
      text += "\""
    }
    return text + "]"
  }

  /// The components of a key of `count` columns; nil if the text is not byte for byte what ``text(of:)`` gives, or a component is empty
  /// where the key is a lone one.
  public static func components(of text: String, count: Int) -> [String]? {
    if count == 1 { return text.isEmpty ? nil : [text] }
    guard case .array(let members)? = try? Value.json(text), members.count == count else { return nil }
    var components: [String] = []
    for member in members {
      guard case .string(let component) = member else { return nil }
      components.append(component)
    }
    return self.text(of: components).utf8.elementsEqual(text.utf8) ? components : nil
  }

  /// A key text as a caller may have written it, with the letters of UUIDs in lower case, its components too.
  public static func normalized(_ text: String, count: Int) -> String {
    if count == 1 { return lowercasedUUID(text) }
    guard case .array(let members)? = try? Value.json(text), members.count == count else { return text }
    var components: [String] = []
    for member in members {
      guard case .string(let component) = member else { return text }
      components.append(lowercasedUUID(component))
    }
    return self.text(of: components)
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\u{08}": text += "\\b"
    case "\u{0C}": text += "\\f"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case "\u{00}"..."\u{1F}":
      text += scalar.value < 16 ? "\\u000" : "\\u00"
      text += String(scalar.value, radix: 16)
    default: text.unicodeScalars.append(scalar)
    }
  }
}
