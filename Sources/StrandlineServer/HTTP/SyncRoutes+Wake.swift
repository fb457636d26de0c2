@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// A client that wants to be woken once there may be something to pull.
///
/// What it hears is the server's high mark, which every closing page tells everybody; of whom and of what the news are it does not hear.
struct WakeRequest: Sendable {
  /// The mark that the client knows; nil: it wants to hear the present one at once.
  var known: Int64?
  var wait: Duration
  var wantsEvents: Bool

  init(_ head: HTTPHead, limits: HTTPLimits) throws(HTTPRefusal) {
    func refused(_ reason: String) -> HTTPRefusal {
      HTTPRefusal(.problem(400, reason, code: .invalidParameter))
    }
    if let text = head.query["after"] {
      guard let number = Int64(text), number >= 0 else { throw refused("after: a number of the server is wanted") }
      known = number
    }
    wait = limits.pollDeadline
    if let text = head.query["wait"] {
      guard let seconds = Int64(text), 0...86_400 ~= seconds else { throw refused("wait: seconds are wanted") }
      wait = min(.seconds(seconds), limits.pollDeadline)
    }
    wantsEvents = Preferences(head.fields["accept"] ?? "").takes { $0 == "text/event-stream" }
  }
}

extension SyncRoutes {
  /// Answers once the server has come further than the client knows, or the wait is over; or with a stream of all news.
  func wake(_ request: WakeRequest, _ caller: Caller, expires: Int64) async -> HTTPResponse {
    if let refusal = gate.enter(caller.userID, isWaiting: true) { return response(to: refusal) }
    if request.wantsEvents { return events(request, caller, expires: expires) }
    let mark = await withCheckedContinuation { (continuation: CheckedContinuation<Int64?, Never>) in
      waits.start { [self] in continuation.resume(returning: await news(request)) }
    }
    gate.leave(caller.userID, isWaiting: true)
    let number = mark ?? request.known ?? 0
    return HTTPResponse(
      200, [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
      body: .bytes(Array(Value.object(["number": .string(String(number))]).json.utf8)))
  }

  /// The first mark that is another than the client knows; nil if there is none in time. A lower one is news too: that history is lost.
  private func news(_ request: WakeRequest) async -> Int64? {
    await withTaskGroup(of: Int64?.self) { group in
      group.addTask { [server] in
        for await mark in server.highMarks() where mark != request.known { return mark }
        return nil
      }
      group.addTask {
        try? await Task.sleep(for: request.wait)
        return nil
      }
      let first = await group.next()
      group.cancelAll()
      return first ?? nil
    }
  }

  /// Until the token expires, the client has gone, or the server stops.
  private func events(_ request: WakeRequest, _ caller: Caller, expires: Int64) -> HTTPResponse {
    let stream = EventStream()
    let life = Duration.seconds(max(0, expires - SystemClock().wallMilliseconds() / 1000))
    waits.start { [self] in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { [server] in
          for await mark in server.highMarks() where mark != request.known {
            guard stream.send("event: wake\nid: \(mark)\ndata: {\"number\":\"\(mark)\"}\n\n") else { return }
          }
        }
        group.addTask { [limits] in
          // A client that has gone is noticed only by what cannot be sent to it.
          while stream.send(": alive\n\n"), (try? await Task.sleep(for: limits.heartbeat)) != nil {}
        }
        group.addTask { try? await Task.sleep(for: life) }
        await group.next()
        group.cancelAll()
      }
      stream.finish()
      gate.leave(caller.userID, isWaiting: true)
    }
    return HTTPResponse(
      200, [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")], body: .events(stream))
  }
}
