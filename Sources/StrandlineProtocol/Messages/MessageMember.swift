/// A place in the JSON of a message, or of a file that holds messages.
package struct MessageMember: Sendable {
  package let value: Value
  package let path: String

  package init(_ value: Value, _ path: String) {
    self.value = value
    self.path = path
  }

  package func defect(_ wanted: String) -> MessageDefect { MessageDefect(path: path, reason: "\(wanted) is wanted") }

  /// The members of an object.
  package func object() throws(MessageDefect) -> [String: Value] {
    guard case .object(let members) = value else { throw defect("an object") }
    return members
  }

  /// Nil where the member is missing; null counts as a value.
  package subscript(name: String) -> MessageMember? {
    guard case .object(let members) = value, let member = members[name] else { return nil }
    return MessageMember(member, path.isEmpty ? name : "\(path).\(name)")
  }

  /// Nil where the member is missing or null.
  package func present(_ name: String) -> MessageMember? {
    guard let member = self[name], !member.value.isNull else { return nil }
    return member
  }

  package func required(_ name: String) throws(MessageDefect) -> MessageMember {
    guard let member = self[name] else {
      _ = try object()
      throw MessageDefect(path: path.isEmpty ? name : "\(path).\(name)", reason: "is missing")
    }
    return member
  }

  package func members() throws(MessageDefect) -> [MessageMember] {
    guard case .array(let members) = value else { throw defect("an array") }
    return members.enumerated().map { MessageMember($1, "\(path)[\($0)]") }
  }

  package func text() throws(MessageDefect) -> String {
    guard case .string(let text) = value else { throw defect("a text") }
    return text
  }

  package func flag() throws(MessageDefect) -> Bool {
    guard case .bool(let flag) = value else { throw defect("true or false") }
    return flag
  }

  /// A whole number, also one that is written with a fraction of zero.
  package func integer() throws(MessageDefect) -> Int64 {
    switch value {
    case .int(let number): return number
    case .double(let number):
      if let whole = Int64(exactly: number) { return whole }
    default: break
    }
    throw defect("a whole number")
  }

  package func list<Element>(
    _ decode: (MessageMember) throws(MessageDefect) -> Element
  ) throws(MessageDefect) -> [Element] {
    var elements: [Element] = []
    for member in try members() { elements.append(try decode(member)) }
    return elements
  }

  /// The word of the member `signal`, an object with a `type`; a bare text is as good. Empty where the object has no type, nil where the
  /// member is missing or null.
  func signal() throws(MessageDefect) -> String? {
    guard let signal = present("signal") else { return nil }
    if case .string(let word) = signal.value { return word }
    _ = try signal.object()
    return try signal.present("type")?.text() ?? ""
  }
}
