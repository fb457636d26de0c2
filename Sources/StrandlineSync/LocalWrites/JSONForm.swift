internal import StrandlineProtocol

extension Value {
  /// The value as it comes back from the wire: what JSON has no form for becomes the text that stands for it there.
  var jsonForm: Value {
    switch self {
    case .null, .bool, .int, .string, .decimal: self
    case .double(let number):
      number.isFinite ? self : .string(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    case .bytes, .uuid, .timestamp: .string(String(json.dropFirst().dropLast()))
    case .array(let members): .array(members.map(\.jsonForm))
    case .object(let members): .object(members.mapValues(\.jsonForm))
    }
  }
}

extension Value {
  /// Whether there are more arrays and objects inside one another than these, the value's own counted.
  func isNested(deeperThan depthMax: Int) -> Bool {
    switch self {
    case .array(let members): depthMax == 0 || members.contains { $0.isNested(deeperThan: depthMax - 1) }
    case .object(let members): depthMax == 0 || members.values.contains { $0.isNested(deeperThan: depthMax - 1) }
    default: false
    }
  }
}

extension [String: Value] {
  var jsonForm: [String: Value] { mapValues(\.jsonForm) }
}
