internal import StrandlineServer
internal import StrandlineSync

/// `sync.push.*`: a client pushes what it has queued, in slices of 500.
struct SyncPush: Subject {
  /// A server with a store of its own, both durable; or one that answers at once, which leaves the client's share.
  let hasServer: Bool

  var name: SubjectName { .strandline }

  func sample(_ site: Site) throws -> Sample {
    let entries = SyncRows.entries(Array(0..<site.rowCount), version: 0, from: 1)
    return try site.withEmptyDirectory { directory in
      let hasServer = hasServer
      let taken = try waitFor {
        let server = hasServer ? try await BenchServer.open("\(directory)/server") : nil
        let remote: any Remote =
          server.map { LoopbackRemote($0) { _ in Caller(userID: BenchServer.user) } } ?? PreparedRemote()
        let client = try await SyncStage.open(
          "\(directory)/client", remote: remote, syncs: false, token: BenchServer.token)
        try await SyncStage.queue(entries, on: client)
        try await client.close()
        let again = try await SyncStage.open("\(directory)/client", remote: remote, token: BenchServer.token)
        let begun = monotonicNanoseconds()
        while try await again.outboxDepth() > 0 { try await again.pushOnce() }
        let elapsed = seconds(since: begun)
        try await again.close()
        try await server?.close()
        return elapsed
      }
      var sample = Sample(rows: entries.count, seconds: taken, resultHash: nil)
      sample[.operationsPerSecond] = Double(entries.count) / taken
      sample.addPeakResident()
      return sample
    }
  }
}
