/// The head of a request, taken apart.
struct HTTPHead: Sendable {
  var method: String
  /// Decoded, without the query.
  var path: String
  var query: [String: String] = [:]
  /// By name in lower case; of a field that came more than once all values, joined by commas.
  var fields: [String: String] = [:]
  /// The other end's address.
  var peer: String

  /// Nil where there is none or more than can be.
  var contentLength: Int? { fields["content-length"].flatMap { Int($0) } }
}

/// What goes back.
struct HTTPResponse: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    case events(EventStream)
  }

  var status: Int
  var fields: [(name: String, value: String)]
  var body: Body
  /// What an operator should know and a client need not.
  var trouble: String?

  init(_ status: Int, _ fields: [(name: String, value: String)] = [], body: Body = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }
}

/// What is to be done with a request, decided by its head alone.
enum HTTPAdmission: Sendable {
  /// Its body is read, up to so many bytes, and the closure answers.
  case serve(byteCountMax: Int, _ answer: @Sendable (_ body: [UInt8]) async -> HTTPResponse)
  case refuse(HTTPResponse)
}

/// A request that is over, for logs and figures. Nothing of it is a secret.
struct HTTPOutcome: Sendable {
  var method: String
  var path: String
  var peer: String
  /// Nil where the connection ended before an answer was known.
  var status: Int?
  var receivedByteCount: Int
  var sentByteCount: Int
  var duration: Duration
  var trouble: String?
}
