/// One step of a transcript.
struct TranscriptStep: Sendable {
  enum Call: String, CaseIterable, Sendable { case pull, push }

  enum Action: Sendable {
    /// The client calls, the server answers.
    case rpc(Call, request: Value, response: Value)
    /// The request arrives and its answer is lost.
    case lostAnswer(Call, request: Value)
    /// The request never arrives.
    case lostRequest(Call, request: Value?)
    /// The server's owner writes, past all policies.
    case owner(OwnerChange)
    case reap
    /// The app writes.
    case local(TranscriptWrite)
    case assert([ClientCheck])
  }

  /// From 1. Also the second of the case in which the step happens.
  var number: Int
  var action: Action

  init(_ step: MessageMember, defaultNumber: Int) throws(MessageDefect) {
    number = defaultNumber
    if let given = step.present("n") {
      guard let exact = Int32(exactly: try given.integer()), exact > 0 else { throw given.defect("a number from 1") }
      number = Int(exact)
    }
    let kind = try step.required("kind")
    action =
      switch try kind.text() {
      case "rpc":
        .rpc(
          try Self.call(step.required("rpc")), request: try Self.object(step.required("request")),
          response: try Self.object(step.required("response")))
      case "fault": try Self.fault(step)
      case "server": try Self.ownersWork(step)
      case "local": .local(try TranscriptWrite(step))
      case "assert":
        .assert(
          try step.required("checks").list { (check) throws(MessageDefect) in try ClientCheck(check) })
      case let word: throw MessageDefect(path: kind.path, reason: "\"\(word)\" is no kind of step")
      }
  }

  private static func call(_ word: MessageMember) throws(MessageDefect) -> Call {
    guard let call = Call(rawValue: try word.text()) else { throw word.defect("\"pull\" or \"push\"") }
    return call
  }

  private static func object(_ body: MessageMember) throws(MessageDefect) -> Value { .object(try body.object()) }

  private static func fault(_ step: MessageMember) throws(MessageDefect) -> Action {
    let call = try call(step.required("target"))
    let fault = try step.required("fault")
    switch try fault.text() {
    case "drop-ack": return .lostAnswer(call, request: try object(step.required("request")))
    case "transport-error":
      return .lostRequest(
        call, request: try step.present("request").map { (request) throws(MessageDefect) in try object(request) })
    case let word: throw MessageDefect(path: fault.path, reason: "\"\(word)\" is no fault")
    }
  }

  private static func ownersWork(_ step: MessageMember) throws(MessageDefect) -> Action {
    if case .string("reap")? = step["op"]?.value { return .reap }
    return .owner(try OwnerChange(step))
  }

  /// Milliseconds since 1970 at which step `number` happens.
  static func time(of number: Int) -> Int64 { 1_767_225_600_000 + Int64(number) * 1000 }

  /// The request of a call, whatever becomes of it.
  func request(of call: Call) -> Value? {
    switch action {
    case .rpc(call, let request, _), .lostAnswer(call, let request), .lostRequest(call, let request?): request
    default: nil
    }
  }

  /// The answer to a call.
  func response(to call: Call) -> MessageMember? {
    if case .rpc(call, _, let response) = action { return MessageMember(response, "") }
    return nil
  }

  /// Whether the answer to a pull has a cursor that leaves numbers out.
  var answerHasHoles: Bool {
    guard case .string(let text)? = response(to: .pull)?["cursor"]?.value else { return false }
    return CursorToken(text).map { !$0.holes.isEmpty } ?? false
  }
}
