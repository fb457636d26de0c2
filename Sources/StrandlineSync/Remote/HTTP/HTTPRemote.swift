internal import Foundation
internal import FoundationNetworking
internal import StrandlineLog
public import StrandlineProtocol
internal import Synchronization

/// A sync server over HTTP.
///
/// Bodies are JSON, or binary once the server has answered in the binary form. Answers may be packed (gzip). Redirects are not followed, and
/// neither a token nor a key stands in any description of the remote, its requests and its errors.
public final class HTTPRemote: Remote, SecretHolder {
  private let configuration: RemoteConfiguration
  private let address: RemoteAddress
  private let exchange = HTTPExchange()
  /// Both ends offer the binary form: we by the configuration, the server by an answer in it.
  private let serverTakesBinary = Atomic<Bool>(false)

  /// Opens no connection.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid`` for a url outside the rule, and for fields that no HTTP request can carry.
  public init(_ configuration: RemoteConfiguration) throws(SyncError) {
    address = try RemoteAddress(configuration.url)
    try configuration.check()
    self.configuration = configuration
  }

  public func pull(
    _ request: PullRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    try await call("pull", request, context)
  }

  public func push(
    _ request: PushRequest, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    try await call("push", request, context)
  }

  var secrets: [String] { [configuration.publishableKey] }

  private func call<Answer: BinaryMessage>(
    _ name: String, _ message: some BinaryMessage, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<Answer> {
    let mask = SecretMask([context.accessToken] + secrets)
    do throws(RemoteFailure) {
      var answer: RemoteAnswer<Answer> = try await exchange(name, message, context)
      answer.notes = mask.told(answer.notes)
      return answer
    } catch {
      throw mask.told(error)
    }
  }

  private func exchange<Answer: BinaryMessage>(
    _ name: String, _ message: some BinaryMessage, _ context: RemoteContext
  ) async throws(RemoteFailure) -> RemoteAnswer<Answer> {
    let form: BodyForm = serverTakesBinary.load(ordering: .relaxed) ? .binary : .json
    var request = URLRequest(url: address.appending(configuration.pathPrefix, name))
    request.httpMethod = "POST"
    for (name, value) in try fields(form, context) { request.setValue(value, forHTTPHeaderField: name) }
    let body = form.encode(message)
    request.httpBody = Data(body)
    let answer: HTTPAnswer
    do throws(URLError) {
      answer = try await exchange.send(
        request, connect: configuration.deadlines.connect, total: configuration.deadlines.request,
        byteCountMax: configuration.answerByteCountMax)
    } catch {
      throw RemoteFailure(error, byteCountMax: configuration.answerByteCountMax)
    }
    // A server that no longer takes what it took before is asked in JSON from the next call on.
    if form == .binary, answer.status == 415 { serverTakesBinary.store(false, ordering: .relaxed) }
    return try read(answer, sentByteCount: body.count)
  }

  private func fields(
    _ form: BodyForm, _ context: RemoteContext
  ) throws(RemoteFailure) -> [(name: String, value: String)] {
    guard let token = context.accessToken, !token.isEmpty else {
      throw .local(.sessionMissing, "there is no access token to send")
    }
    guard HTTPField.isValue(token), HTTPField.isValue(context.history ?? "") else {
      throw .local(.sessionExpired, "the access token or the history has characters that no request can carry")
    }
    var fields: [(name: String, value: String)] = [
      ("Authorization", "Bearer \(token)"), (configuration.keyHeader, configuration.publishableKey),
      (configuration.profileHeader, configuration.schema), ("Content-Type", form.contentType),
      ("Accept", configuration.offersBinary ? Self.acceptsBoth : BodyForm.json.contentType),
    ]
    if let history = context.history { fields.append((AnswerNotes.historyName, history)) }
    return fields
  }

  private static let acceptsBoth = "\(BodyForm.binary.contentType), \(BodyForm.json.contentType);q=0.9"

  private func read<Answer: BinaryMessage>(
    _ answer: HTTPAnswer, sentByteCount: Int
  ) throws(RemoteFailure) -> RemoteAnswer<Answer> {
    var notes = AnswerNotes(headers: answer.field)
    notes.sentByteCount = sentByteCount
    notes.receivedByteCount = answer.body.count
    // A part (206) is no answer to a request for the whole.
    guard 200..<300 ~= answer.status, answer.status != 206 else {
      throw RemoteFailure(.refused(Self.refusal(answer), status: answer.status), notes: notes)
    }
    let type = answer.field("Content-Type") ?? BodyForm.json.contentType
    guard let form = BodyForm(contentType: type), form == .json || configuration.offersBinary else {
      throw RemoteFailure(
        .undecodable(MessageDefect(path: "Content-Type", reason: "no form of body that was asked for")), notes: notes)
    }
    if form == .binary, BinaryContentSize.announced(by: answer.body) > configuration.answerByteCountMax {
      throw RemoteFailure(.answerTooLarge(byteCountMax: configuration.answerByteCountMax), notes: notes)
    }
    do throws(MessageDefect) {
      let body = try form.decode(
        Answer.self, from: answer.body, contentByteCountMax: configuration.answerByteCountMax)
      if form == .binary { serverTakesBinary.store(true, ordering: .relaxed) }
      return RemoteAnswer(body: body, notes: notes)
    } catch {
      throw RemoteFailure(.undecodable(error), notes: notes)
    }
  }

  /// What a refusal says for itself; a body that is no error answer (a proxy's page) gives no code.
  private static func refusal(_ answer: HTTPAnswer) -> ErrorAnswer {
    if let said = try? ErrorAnswer(body: answer.body) { return said }
    let message =
      switch answer.status {
      case 206: "HTTP status 206, a part of an answer"
      case 300..<400:
        "HTTP status \(answer.status), and redirects are not followed; the server names \(answer.field("Location") ?? "no other place")"
      default: "HTTP status \(answer.status)"
      }
    return ErrorAnswer(code: nil, message: message)
  }
}

extension Remote where Self == HTTPRemote {
  /// A server over HTTP with the settings of the published protocol.
  ///
  /// - Throws: as ``HTTPRemote/init(_:)``.
  public static func http(_ url: String, publishableKey: String) throws(SyncError) -> HTTPRemote {
    try HTTPRemote(RemoteConfiguration(url: url, publishableKey: publishableKey))
  }
}

extension HTTPRemote: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "HTTPRemote(\(configuration.url))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["url": configuration.url]) }
}

extension RemoteFailure {
  /// A refusal of our own, before anything was sent.
  fileprivate static func local(_ code: TransportCode, _ message: String) -> RemoteFailure {
    RemoteFailure(.refused(ErrorAnswer(code: code, message: message), status: nil))
  }

  fileprivate init(_ error: URLError, byteCountMax: Int) {
    switch error.code {
    case .cancelled: self.init(.unreachable(reason: "the call was cancelled", underlying: CancellationError()))
    case .timedOut: self.init(.unreachable(reason: "no answer in time", underlying: URLError(.timedOut)))
    case .dataLengthExceedsMaximum: self.init(.answerTooLarge(byteCountMax: byteCountMax))
    default:
      // A fresh one: the user info of what URLSession throws holds the request's url and more.
      let reason = Self.reason(error.code).map { "\($0) (URLError \(error.code.rawValue))" }
      self.init(
        .unreachable(reason: reason ?? "URLError \(error.code.rawValue)", underlying: URLError(error.code)))
    }
  }

  private static func reason(_ code: URLError.Code) -> String? {
    switch code {
    case .cannotConnectToHost: "nobody takes the connection"
    case .cannotFindHost, .dnsLookupFailed: "the host's name has no address"
    case .networkConnectionLost: "the connection broke"
    case .notConnectedToInternet: "there is no network"
    case .unknown, .badServerResponse, .cannotDecodeContentData, .cannotDecodeRawData, .cannotParseResponse:
      "the connection broke in the middle, or what came is no answer of HTTP that can be unpacked"
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateNotYetValid, .serverCertificateHasUnknownRoot:
      "no secure connection could be made"
    default: nil
    }
  }
}

/// What the header of a request can carry.
enum HTTPField {
  /// RFC 9110, a token.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// Printable ASCII: nothing that would begin another field.
  static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy { 0x20...0x7E ~= $0 } }
}

extension RemoteConfiguration {
  func check() throws(SyncError) {
    func require(_ condition: Bool, _ reason: String) throws(SyncError) {
      guard condition else { throw SyncError(.configInvalid, "the remote's \(reason)") }
    }
    try require(
      !publishableKey.isEmpty && HTTPField.isValue(publishableKey), "publishableKey: printable ASCII is wanted")
    try require(!schema.isEmpty && HTTPField.isValue(schema), "schema: printable ASCII is wanted")
    try require(HTTPField.isName(keyHeader), "keyHeader: no name of a field")
    try require(HTTPField.isName(profileHeader), "profileHeader: no name of a field")
    let own = ["authorization", "content-type", "accept", "host", "content-length", profileHeader.lowercased()]
    try require(!own.contains(keyHeader.lowercased()), "keyHeader: \(keyHeader) has another use")
    try require(!own.dropLast().contains(profileHeader.lowercased()), "profileHeader: \(profileHeader) has another use")
    let isPath = pathPrefix.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-._~/".utf8.contains(byte)
      }
    }
    try require(
      isPath && !pathPrefix.hasPrefix("/") && !pathPrefix.hasSuffix("/") && !pathPrefix.contains("//"),
      "pathPrefix: segments of letters, digits and -._~ are wanted")
    try require(answerByteCountMax >= 1, "answerByteCountMax: at least 1")
    try require(
      deadlines.connect > .zero && deadlines.request > .zero && deadlines.transfer > .zero, "deadlines: above zero")
  }
}
