@_spi(Engine) internal import StrandlineLog

/// What a server has done since it started, in the text form that Prometheus reads.
final class HTTPMetrics: Sendable {
  private struct Key: Hashable {
    var route: String
    var method: String
    var status: String
  }

  private struct Times {
    /// As many as there are bounds, and one for all above.
    var counts: [UInt64]
    var sum = Duration.zero
  }

  private struct State {
    var requests: [Key: UInt64] = [:]
    var times: [String: Times] = [:]
    var receivedByteCount: UInt64 = 0
    var sentByteCount: UInt64 = 0
    var refusedTokenCount: UInt64 = 0
  }

  private static let bounds: [(seconds: Duration, text: String)] = [
    (.milliseconds(1), "0.001"), (.milliseconds(5), "0.005"), (.milliseconds(25), "0.025"),
    (.milliseconds(100), "0.1"), (.milliseconds(500), "0.5"), (.seconds(2), "2"), (.seconds(10), "10"),
  ]

  private let state = Lock(State())

  func count(_ entry: HTTPLogEntry) {
    let status = entry.status.map { String($0) } ?? "none"
    let place = Self.bounds.firstIndex { entry.duration <= $0.seconds } ?? Self.bounds.count
    state.withLock { state in
      state.requests[Key(route: entry.route, method: entry.method, status: status), default: 0] &+= 1
      var times = state.times[entry.route] ?? Times(counts: Array(repeating: 0, count: Self.bounds.count + 1))
      times.counts[place] &+= 1
      times.sum += entry.duration
      state.times[entry.route] = times
      state.receivedByteCount &+= UInt64(entry.receivedByteCount)
      state.sentByteCount &+= UInt64(entry.sentByteCount)
    }
  }

  func countRefusedToken() { state.withLock { $0.refusedTokenCount &+= 1 } }

  func text(connectionCount: Int, callCount: Int, waitCount: Int) -> String {
    var text = ""
    func family(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: String)]) {
      text += "# HELP strandline_\(name) \(help)\n# TYPE strandline_\(name) \(kind)\n"
      for sample in samples { text += "strandline_\(sample.labels) \(sample.value)\n" }
    }
    state.withLock { state in
      family(
        "http_requests_total", "counter", "Requests that are over, by route, method and status.",
        state.requests.map { key, count in
          (
            "http_requests_total{route=\"\(key.route)\",method=\"\(key.method)\",status=\"\(key.status)\"}",
            String(count)
          )
        }.sorted { $0.0 < $1.0 })
      family(
        "http_request_seconds", "histogram", "From the head of a request to its end, by route.",
        state.times.sorted { $0.key < $1.key }.flatMap { Self.samples($0.key, $0.value) })
      family(
        "http_received_bytes_total", "counter", "Bytes of request bodies.",
        [("http_received_bytes_total", String(state.receivedByteCount))])
      family(
        "http_sent_bytes_total", "counter", "Bytes of answer bodies, event streams not counted.",
        [("http_sent_bytes_total", String(state.sentByteCount))])
      family(
        "tokens_refused_total", "counter", "Tokens that were not taken.",
        [("tokens_refused_total", String(state.refusedTokenCount))])
    }
    family("http_connections", "gauge", "Open connections.", [("http_connections", String(connectionCount))])
    family("http_calls", "gauge", "Pulls and pushes that are being served.", [("http_calls", String(callCount))])
    family("http_waits", "gauge", "Long polls and event streams.", [("http_waits", String(waitCount))])
    return text
  }

  private static func samples(_ route: String, _ times: Times) -> [(labels: String, value: String)] {
    var total: UInt64 = 0
    var samples: [(labels: String, value: String)] = []
    for (place, count) in times.counts.enumerated() {
      total &+= count
      let bound = place < bounds.count ? bounds[place].text : "+Inf"
      samples.append(("http_request_seconds_bucket{route=\"\(route)\",le=\"\(bound)\"}", String(total)))
    }
    let (seconds, attoseconds) = times.sum.components
    samples.append(
      ("http_request_seconds_sum{route=\"\(route)\"}", "\(Double(seconds) + Double(attoseconds) / 1e18)"))
    samples.append(("http_request_seconds_count{route=\"\(route)\"}", String(total)))
    return samples
  }
}
