/// Why a server refused a whole request; nothing was changed by it.
public struct ErrorAnswer: Error, WireMessage, CustomStringConvertible {
  /// Nil where the server gave none.
  public var code: TransportCode?
  public var message: String

  public init(code: TransportCode?, message: String) {
    self.code = code
    self.message = message
  }

  public init(json: Value) throws(MessageDefect) {
    let answer = MessageMember(json, "")
    code = try answer.present("code").map { (code) throws(MessageDefect) in TransportCode(rawValue: try code.text()) }
    message = try answer.present("message")?.text() ?? ""
  }

  public var json: Value {
    var members: [String: Value] = ["message": .string(message)]
    if let code { members["code"] = .string(code.rawValue) }
    return .object(members)
  }

  public var description: String { code.map { "\($0): \(message)" } ?? message }
}
