/// The head of a request, taken apart.
struct HTTPHead: Sendable {
  var method: String
  /// As it was sent, without the query: no escape is undone, so that one path has one name.
  var path: String
  var query: [String: String] = [:]
  /// By name in lower case; of a field that came more than once all values, joined by commas.
  var fields: [String: String] = [:]
  /// The other end's address.
  var peer: String
  /// Whether the path ends where the request says.
  var isWhole = true

  /// Nil where there is none; the largest number for what is more.
  var contentLength: Int? { fields["content-length"].map { Int($0) ?? .max } }
  /// Whether the length of the body is one number, if there is one.
  var isLengthNumber: Bool { fields["content-length"].map { $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } } ?? true }
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
  /// The room that its bytes take until they are sent; nil where they are few.
  var lease: AnswerLease?

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
  /// Known already: nothing of its body is kept, and no task is asked.
  case answer(HTTPResponse)
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
