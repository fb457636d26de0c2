internal import Foundation
internal import FoundationNetworking
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// Rings when a server of Strandline has committed something, told by long polls of its `/v1/wake`.
///
/// One poll serves all topics: the server says that there is news, not of which table. A lost connection loses nothing, for each poll says
/// what is known. Polls begin with the first subscription and end with the last.
public final class HTTPWakeSource: RealtimeSource {
  private struct State {
    var nextNumber = 0
    var listeners: [Int: @Sendable () -> Void] = [:]
    var polling: Task<Void, Never>?
  }

  /// Longer than any server of ours lets a poll wait.
  private static let pollDeadline = Duration.seconds(60)
  /// Between two polls, so that a server that answers at once is not asked without end.
  private static let pause = Duration.milliseconds(200)
  /// After a failure, doubled with each further one as a scheduler's delay is.
  private static let retryInterval = Duration.seconds(1)
  private static let answerByteCountMax = 64 << 10

  private let configuration: RemoteConfiguration
  private let address: RemoteAddress
  private let accessToken: @Sendable () async -> String?
  private let exchange = HTTPExchange()
  private let state = Lock(State())

  /// - Parameters:
  ///   - configuration: as that of the remote; its path prefix is not used.
  ///   - accessToken: the token of the moment; nil: nobody is signed in, and nothing is asked for.
  /// - Throws: ``SyncErrorCode/configInvalid``, as ``HTTPRemote/init(_:)``.
  public init(
    _ configuration: RemoteConfiguration, accessToken: @escaping @Sendable () async -> String?
  ) throws(SyncError) {
    address = try RemoteAddress(configuration.url)
    try configuration.check()
    self.configuration = configuration
    self.accessToken = accessToken
  }

  deinit { state.withLock { $0.polling?.cancel() } }

  public func subscribe(topic: String, _ rang: @escaping @Sendable () -> Void) throws -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.nextNumber += 1
      state.listeners[state.nextNumber] = rang
      if state.polling == nil { state.polling = Task { [weak self] in await Self.poll { self } } }
      return state.nextNumber
    }
    return { [weak self] in self?.end(number) }
  }

  private func end(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return }
      state.polling?.cancel()
      state.polling = nil
    }
  }

  private func ring() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener() }
  }

  private enum Answer {
    case number(String)
    case failed
    /// A server that knows no such path: nothing will ever come.
    case never
  }

  /// Until it is cancelled, the source has gone, or the server turns out to be of another make.
  private static func poll(_ source: () -> HTTPWakeSource?) async {
    var known: String?
    var failureCount = 0
    while !Task.isCancelled, let here = source() {
      let wait: Duration
      switch await here.ask(known) {
      case .number(let number):
        failureCount = 0
        if let known, known != number { here.ring() }
        known = number
        wait = pause
      case .failed:
        failureCount += 1
        wait = RunDelay.delay(
          interval: retryInterval, failureCount: failureCount, jitter: Double.random(in: 0...1))
      case .never: return
      }
      try? await Task.sleep(for: wait)
    }
  }

  private func ask(_ known: String?) async -> Answer {
    guard let token = await accessToken(), !token.isEmpty, HTTPField.isValue(token) else { return .failed }
    let url = address.appending("v1", known.map { "wake?after=\($0)" } ?? "wake")
    var request = URLRequest(url: url)
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    request.setValue(configuration.publishableKey, forHTTPHeaderField: configuration.keyHeader)
    request.setValue(configuration.schema, forHTTPHeaderField: configuration.profileHeader)
    request.setValue(BodyForm.json.contentType, forHTTPHeaderField: "Accept")
    guard
      let answer = try? await exchange.send(
        request, connect: Self.pollDeadline, total: Self.pollDeadline, byteCountMax: Self.answerByteCountMax)
    else { return .failed }
    if answer.status == 404 || answer.status == 405 { return .never }
    guard answer.status == 200, case .object(let members)? = try? Value.json(answer.body),
      case .string(let number)? = members["number"], Int64(number) != nil
    else { return .failed }
    return .number(number)
  }
}
