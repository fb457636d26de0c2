internal import StrandlineProtocol

/// How the body of a request came and how its answer is to go.
struct BodyForms: Sendable {
  var request: BodyForm
  var answer: BodyForm
  var takesGzip: Bool
}

extension SyncRoutes {
  /// Below this gzip saves less than it costs.
  private static let gzipByteCountMin = 1024

  /// Reads a message, asks the server, and writes what it answers.
  func call<Request: BinaryMessage, Answer: BinaryMessage>(
    _ type: Request.Type, _ body: [UInt8], _ forms: BodyForms, _ caller: Caller,
    _ ask: (Request) async throws(ErrorAnswer) -> RemoteAnswer<Answer>
  ) async -> HTTPResponse {
    if let refusal = gate.enter(caller.userID, isWaiting: false) { return response(to: refusal) }
    defer { gate.leave(caller.userID, isWaiting: false) }
    do throws(ErrorAnswer) {
      let request: Request
      do throws(MessageDefect) {
        request = try forms.request.decode(type, from: body, contentByteCountMax: limits.bodyByteCountMax)
      } catch {
        throw ErrorAnswer(code: .invalidParameter, message: "the body is no message: \(error)")
      }
      return response(try await ask(request), forms, caller)
    } catch {
      let notes: AnswerNotes? = try? await server.notes()
      let fields = notes?.headers ?? []
      if let code = error.code { return .problem(error.status, error.message, code: code, fields: fields) }
      // What its storage says is the operator's, not the client's.
      var response = HTTPResponse.problem(error.status, "the server is in trouble; try again later", fields: fields)
      response.trouble = error.message
      return response
    }
  }

  func response(to refusal: CallGate.Refusal) -> HTTPResponse {
    switch refusal {
    case .tooManyOfAll: .busy
    case .tooManyOfUser:
      .problem(
        429,
        "too many calls of one user at a time, or too many answers that it does not read; at most "
          + "\(limits.callCountPerUserMax) calls and \(limits.answerByteCountPerUserMax) bytes",
        fields: [(AnswerNotes.retryAfterName, "1")])
    }
  }

  private func response(
    _ answer: RemoteAnswer<some BinaryMessage>, _ forms: BodyForms, _ caller: Caller
  ) -> HTTPResponse {
    var body = forms.answer.encode(answer.body)
    var fields = answer.notes.headers
    fields.append(("Content-Type", forms.answer.contentType))
    fields.append(("Cache-Control", "no-store"))
    if forms.answer == .json, forms.takesGzip, body.count >= Self.gzipByteCountMin,
      let packed = GzipDeflater.deflate(body), packed.count < body.count
    {
      body = packed
      fields.append(("Content-Encoding", "gzip"))
    }
    guard let lease = gate.lease(body.count, of: caller.userID) else { return .busy }
    var response = HTTPResponse(200, fields, body: .bytes(body))
    response.lease = lease
    return response
  }
}
