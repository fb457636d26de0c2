internal import StrandlineProtocol

extension HTTPResponse {
  /// A refusal: the protocol's `code` and `message`, and the members of RFC 9457 beside them.
  static func problem(
    _ status: Int, _ message: String, code: TransportCode? = nil, fields: [(name: String, value: String)] = []
  ) -> HTTPResponse {
    var members: [String: Value] = [
      "type": "about:blank", "title": .string(title(status)), "status": .int(Int64(status)),
      "detail": .string(message), "message": .string(message),
    ]
    if let code { members["code"] = .string(code.rawValue) }
    return HTTPResponse(
      status, [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")] + fields,
      body: .bytes(Array(Value.object(members).json.utf8)))
  }

  /// Come back later: no code, so that every client takes it for passing.
  static var busy: HTTPResponse {
    .problem(
      503, "the server is busy or stopping; try again",
      fields: [(AnswerNotes.retryAfterName, "1")])
  }

  static func tooLarge(_ byteCountMax: Int) -> HTTPResponse {
    .problem(413, "the body is larger than \(byteCountMax) bytes")
  }

  private static func title(_ status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 429: "Too Many Requests"
    case 503: "Service Unavailable"
    default: status < 500 ? "Refused" : "Internal Server Error"
    }
  }
}

extension ErrorAnswer {
  /// The status of HTTP that belongs to the code; a refusal without one is trouble of the server's own.
  var status: Int {
    switch code {
    case nil: 500
    case .sessionExpired?, .sessionMissing?: 401
    case .insufficientPrivilege?: 403
    case .unknownProfile?: 406
    default: 400
    }
  }
}
