import StrandlineServer
import StrandlineTestSupport
import Testing

/// The server against ``ModelServer``, request by request and value for value, with restarts and power cuts in between.
@Suite("Server and model") struct ServerModelTests {
  @Test("the same answers to the same requests, whatever was asked before", arguments: 1...8)
  func answers(_ seed: Int) async throws {
    var generator = RequestGenerator(seed: UInt64(seed))
    var model = ModelServer(RequestGenerator.configuration)
    var test = try await TestServer(RequestGenerator.configuration, seed: UInt64(seed))
    var kinds: [String: Int] = [:]
    for count in 1...1500 {
      let step = generator.step()
      let now = test.clock.wallMilliseconds()
      switch step {
      case .push(let request, let caller):
        let found = await answer { () async throws(ErrorAnswer) in try await test.server.push(request, as: caller).body
        }
        let expected = await answer { () async throws(ErrorAnswer) in try model.push(request, caller, now: now) }
        try #require(found == expected, "seed \(seed), step \(count): \(request.json.json) as \(caller)")
        for verdict in (try? expected.get())?.verdicts ?? [] { kinds[verdict.reason ?? verdict.kind, default: 0] += 1 }
        if (try? expected.get())?.abort != nil { kinds["aborted", default: 0] += 1 }
      case .pull(let request, let caller):
        let found = await answer { () async throws(ErrorAnswer) in try await test.server.pull(request, as: caller).body
        }
        let expected = await answer { () async throws(ErrorAnswer) in try model.pull(request, caller) }
        try #require(found == expected, "seed \(seed), step \(count): \(request.json.json) as \(caller)")
        guard case .success(let page) = expected else { break }
        generator.note(page)
        if page.hasMore { kinds["continuation", default: 0] += 1 }
        if !page.tombstones.isEmpty { kinds["tombstones", default: 0] += 1 }
        if !page.conflicts.isEmpty { kinds["conflicts", default: 0] += 1 }
        kinds[page.signal ?? "page", default: 0] += 1
      case .upsert(let table, let pk, let columns, let hlc):
        model.upsert(table, pk, columns, hlc: hlc, now: now)
        try await test.own(table, pk, columns, hlc: hlc)
      case .delete(let table, let pk):
        model.remove(table, pk, now: now)
        try await test.ownDelete(table, pk)
      case .reap:
        model.reapAll()
        #expect(try await test.server.reap(.allTombstones).reapHorizon == model.horizon)
      case .pass(let milliseconds): test.advance(by: .milliseconds(milliseconds))
      case .restart:
        // Everything that was answered was durable: nothing that a power cut can take is missed.
        let disk = test.disk.powerLoss(keeping: .random(seed: UInt64(seed * 1000 + count)))
        test = try await TestServer(
          RequestGenerator.configuration, disk: disk, clock: test.clock, seed: UInt64(seed * 1000 + count))
      }
      #expect(try await test.highMark == model.counter)
    }
    // The world is not too small to say anything.
    for kind in Self.kinds { #expect(kinds[kind] != nil, "\(kind) does not come up: \(kinds)") }
  }

  private static let kinds =
    RejectionReason.allCases.map(\.rawValue) + [
      "applied", "aborted", "page", "continuation", "tombstones", "conflicts", "CHECKPOINT_EXPIRED", "RESET_REQUIRED",
    ]

  /// An answer, or the code of the refusal.
  private func answer<Body>(
    _ body: () async throws(ErrorAnswer) -> Body
  ) async -> Result<Body, Refusal> where Body: Hashable {
    do throws(ErrorAnswer) { return .success(try await body()) } catch { return .failure(Refusal(code: error.code)) }
  }

  private struct Refusal: Error, Hashable {
    var code: TransportCode?
  }
}
