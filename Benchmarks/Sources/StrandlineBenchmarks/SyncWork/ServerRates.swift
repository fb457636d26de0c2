internal import StrandlineServer
internal import StrandlineSync

/// `sync.server.*`: requests over HTTP on loopback from so many connections at once, both ends in one process.
struct ServerRates: Subject {
  enum Kind: Sendable {
    /// Pages of 500 rows.
    case pull
    /// Ten mutations, durable before they are answered.
    case push
  }

  let kind: Kind
  let connectionCount: Int

  var name: SubjectName { .strandline }

  func prepare(_ site: Site) throws { _ = try BenchServer.loaded(site) }

  func sample(_ site: Site) throws -> Sample {
    let stage = SyncStage(site: site)
    let (kind, connectionCount) = (kind, connectionCount)
    // A fifth as many requests as there are rows in a hundred.
    let requestCount = max(connectionCount, site.rowCount / 500) / connectionCount
    return try stage.site.withCopy(of: try BenchServer.loaded(site)) { copy in
      let (taken, latencies) = try waitFor { () async throws -> (Double, [UInt64]) in
        let server = try await BenchServer.open(copy)
        let http = try BenchServer.serve(server)
        let remotes = try (0..<connectionCount).map { _ in try BenchServer.remote(http, offersBinary: true) }
        // Connections are made, and the form of the bodies is known.
        for remote in remotes { _ = try await Self.ask(remote, .pull, 0, 0) }
        let begun = monotonicNanoseconds()
        let latencies = try await withThrowingTaskGroup(of: [UInt64].self) { group -> [UInt64] in
          for (place, remote) in remotes.enumerated() {
            group.addTask {
              var latencies: [UInt64] = []
              for number in 0..<requestCount {
                let begun = monotonicNanoseconds()
                try await Self.ask(remote, kind, place, number)
                latencies.append(monotonicNanoseconds() - begun)
              }
              return latencies
            }
          }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        let elapsed = seconds(since: begun)
        await http.stop()
        try await server.close()
        return (elapsed, latencies)
      }
      let rowsEach = kind == .pull ? min(500, site.rowCount) : 10
      var sample = Sample(rows: latencies.count * rowsEach, seconds: taken, resultHash: nil)
      sample[.operationsPerSecond] = Double(latencies.count) / taken
      sample.addLatencies(latencies)
      return sample
    }
  }

  private static func ask(_ remote: HTTPRemote, _ kind: Kind, _ place: Int, _ number: Int) async throws {
    let context = RemoteContext(accessToken: BenchServer.token)
    switch kind {
    case .pull:
      let request = PullRequest(
        clientID: nil, schemaVersion: 1, cursor: "0", limit: 500,
        buckets: [PullRequest.Bucket(table: SyncRows.table, params: [:])])
      _ = try await remote.pull(request, context)
    case .push:
      let mutations = (0..<10).map { index in
        let name = "\(place)-\(number)-\(index)"
        return Mutation(
          id: "m\(name)", table: SyncRows.table, pk: name, operation: "insert",
          columns: ["title": "a row that was pushed", "status": 1])
      }
      let request = PushRequest(
        clientID: nil, schemaVersion: 1, lastMutationID: nil, isAtomic: false, mutations: mutations)
      guard try await remote.push(request, context).body.verdicts?.count == 10 else {
        throw BenchmarkError.finding("a push was not answered by verdicts")
      }
    }
  }
}
