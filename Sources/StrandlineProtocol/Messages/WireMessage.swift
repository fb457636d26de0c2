/// A message of the protocol: a value that is written as one JSON document.
public protocol WireMessage: Hashable, Sendable {
  /// - Throws: ``MessageDefect`` with the place.
  init(json: Value) throws(MessageDefect)
  var json: Value { get }
}

extension WireMessage {
  /// Reads a body.
  ///
  /// - Throws: ``MessageDefect``; for bytes that are no JSON with the place as path.
  public init(body: [UInt8]) throws(MessageDefect) {
    let value: Value
    do throws(StoreError) {
      value = try Value.json(body)
    } catch {
      guard case .coding(_, let path, let reason) = error else { throw MessageDefect(path: "", reason: "\(error)") }
      throw MessageDefect(path: path, reason: reason)
    }
    try self.init(json: value)
  }

  /// The message in UTF-8. Numbers beyond 64 bits stay numbers.
  public var body: [UInt8] {
    var text: [UInt8] = []
    json.appendJSON(to: &text, decimals: .number)
    return text
  }
}
