public import Foundation
public import FoundationNetworking
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// One request over `URLSession` and its whole answer, under deadlines and a bound on its size.
///
/// Redirects are answers like any other: they are not followed. Nothing is kept: no cookies, no cache, no credentials.
@_spi(Engine) public final class HTTPExchange: Sendable {
  private let observer = Observer()
  private let session: URLSession

  public init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration, delegate: observer, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// - Parameters:
  ///   - connect: until the first byte of the request is on its way.
  ///   - total: until the last byte of the answer is here.
  ///   - byteCountMax: most bytes of the answer's body, unpacked; a larger one ends as `URLError.dataLengthExceedsMaximum`.
  /// - Throws: `URLError`; `timedOut` past a deadline, `cancelled` when the calling task was.
  public func send(
    _ request: URLRequest, connect: Duration, total: Duration, byteCountMax: Int
  ) async throws(URLError) -> HTTPAnswer {
    var request = request
    // Ours are the deadlines; URLSession's own would begin anew with each byte.
    request.timeoutInterval = total.seconds + 1
    let task = session.dataTask(with: request)
    let flow = Flow(byteCountMax: byteCountMax)
    let watch = Task {
      try await Task.sleep(for: min(connect, total))
      if !flow.isConnected {
        flow.end(.failure(URLError(.timedOut)))
        task.cancel()
      }
      if total > connect { try await Task.sleep(for: total - connect) }
      flow.end(.failure(URLError(.timedOut)))
      task.cancel()
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<HTTPAnswer, URLError>, Never>) in
        flow.begin(continuation)
        observer.add(flow, for: task.taskIdentifier)
        task.resume()
      }
    } onCancel: {
      flow.end(.failure(URLError(.cancelled)))
      task.cancel()
    }
    watch.cancel()
    return try outcome.get()
  }
}

extension HTTPExchange {
  /// A document of public data, under the deadlines of a request.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid`` for a url outside the rule of ``RemoteConfiguration/url``; `URLError`, `badServerResponse` for
  ///   any status but 200.
  public func document(at url: String, byteCountMax: Int) async throws -> [UInt8] {
    var request = URLRequest(url: try RemoteAddress(url).url)
    request.setValue(BodyForm.json.contentType, forHTTPHeaderField: "Accept")
    let deadlines = RemoteDeadlines()
    let answer = try await send(
      request, connect: deadlines.connect, total: deadlines.request, byteCountMax: byteCountMax)
    guard answer.status == 200 else { throw URLError(.badServerResponse) }
    return answer.body
  }
}

/// What came back, whatever its status.
@_spi(Engine) public struct HTTPAnswer: Sendable {
  public var response: HTTPURLResponse
  public var body: [UInt8]

  public var status: Int { response.statusCode }
  public func field(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// One exchange on its way. It ends once, whoever ends it.
private final class Flow: Sendable {
  typealias Outcome = Result<HTTPAnswer, URLError>

  private struct State {
    var continuation: CheckedContinuation<Outcome, Never>?
    var isConnected = false
    var response: HTTPURLResponse?
    var body: [UInt8] = []
    var outcome: Outcome?
  }

  private let state = Lock(State())
  private let byteCountMax: Int

  init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

  var isConnected: Bool { state.withLock { $0.isConnected } }

  func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let outcome { continuation.resume(returning: outcome) }
  }

  func connected() { state.withLock { $0.isConnected = true } }

  /// False where the answer announces more than is taken.
  func take(_ response: HTTPURLResponse) -> Bool {
    state.withLock { state in
      state.isConnected = true
      state.response = response
    }
    return response.expectedContentLength <= Int64(byteCountMax)
  }

  /// False where that is more than is taken.
  func take(_ data: Data) -> Bool {
    state.withLock { state in
      guard data.count <= byteCountMax - state.body.count else { return false }
      state.body.append(contentsOf: data)
      return true
    }
  }

  func end(_ error: (any Error)?) {
    let outcome: Outcome = state.withLock { state in
      if let error { return .failure(error as? URLError ?? URLError(.unknown)) }
      guard let response = state.response else { return .failure(URLError(.badServerResponse)) }
      return .success(HTTPAnswer(response: response, body: state.body))
    }
    end(outcome)
  }

  /// With what has come of its body.
  func end(refusedWith response: HTTPURLResponse) {
    end(.success(HTTPAnswer(response: response, body: state.withLock { $0.body })))
  }

  func end(_ outcome: Outcome) {
    let continuation = state.withLock { state in
      guard state.outcome == nil else { return CheckedContinuation<Outcome, Never>?.none }
      state.outcome = outcome
      state.body = []
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: outcome)
  }
}

/// Hears of all exchanges of a session.
private final class Observer: NSObject, URLSessionDataDelegate, Sendable {
  private let flows = Lock([Int: Flow]())

  func add(_ flow: Flow, for identifier: Int) { flows.withLock { $0[identifier] = flow } }

  private func flow(of task: URLSessionTask) -> Flow? { flows.withLock { $0[task.taskIdentifier] } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    flow(of: task)?.connected()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  /// A refusal that asks for a password (HTTP Basic) is an answer like any other. Left to itself URLSession would wait for credentials.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let response = challenge.failureResponse as? HTTPURLResponse else {
      return completionHandler(.performDefaultHandling, nil)
    }
    flow(of: task)?.end(refusedWith: response)
    completionHandler(.cancelAuthenticationChallenge, nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    guard let flow = flow(of: dataTask), let response = response as? HTTPURLResponse else {
      return completionHandler(.cancel)
    }
    if flow.take(response) { return completionHandler(.allow) }
    flow.end(.failure(URLError(.dataLengthExceedsMaximum)))
    completionHandler(.cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let flow = flow(of: dataTask), !flow.take(data) else { return }
    flow.end(.failure(URLError(.dataLengthExceedsMaximum)))
    dataTask.cancel()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    flows.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }
}
