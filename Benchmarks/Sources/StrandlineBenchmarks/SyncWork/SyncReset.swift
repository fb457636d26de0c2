internal import StrandlineSync

/// `sync.reset.1M`: reset() of a client with all rows and one row in ten queued, its report and new identity included.
struct SyncReset: Subject {
  private static let commitCount = 200

  var name: SubjectName { .strandline }

  func prepare(_ site: Site) throws { _ = try SyncStage(site: site).loaded(pendingCount: site.rowCount / 10) }

  func sample(_ site: Site) throws -> Sample {
    let stage = SyncStage(site: site)
    let pendingCount = site.rowCount / 10
    return try stage.site.withCopy(of: try stage.loaded(pendingCount: pendingCount)) { copy in
      let (taken, latencies) = try waitFor { () async throws -> (Double, [UInt64]) in
        let client = try await SyncStage.open(copy)
        var latencies: [UInt64] = []
        for number in 0..<min(Self.commitCount, pendingCount) {
          let begun = monotonicNanoseconds()
          try await client.apply(.insert, to: SyncRows.table, pk: "n\(number)", columns: ["status": 1])
          latencies.append(monotonicNanoseconds() - begun)
        }
        let begun = monotonicNanoseconds()
        let report = try await client.reset(keepCopy: false)
        let elapsed = seconds(since: begun)
        guard report.droppedMutations[SyncRows.table] == pendingCount + latencies.count else {
          throw BenchmarkError.finding("the report counts other writes than were queued")
        }
        try await client.close()
        return (elapsed, latencies)
      }
      var sample = Sample()
      sample[.seconds] = taken
      sample.addLatencies(latencies)
      if let commit = sample[.p50] { sample[.ratio] = commit / taken }
      return sample
    }
  }
}
