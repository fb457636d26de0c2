internal import StrandlineSync

/// `sync.pull.*`: a client applies the server's changes of one row in ten, over an outbox of one row in a hundred.
struct SyncPull: Subject {
  /// Nil: answers come as values, as from a server in the same process.
  var form: BodyForm?
  /// Each page of 1,000 closes a pull, which is a durable commit; or all are staged and the last closes one pull.
  var closesEach = true

  var name: SubjectName { .strandline }

  private func stage(_ site: Site) -> (stage: SyncStage, pendingCount: Int) {
    (SyncStage(site: site), site.rowCount / 100)
  }

  func prepare(_ site: Site) throws {
    let (stage, pendingCount) = stage(site)
    _ = try stage.loaded(pendingCount: pendingCount)
  }

  func sample(_ site: Site) throws -> Sample {
    let (stage, pendingCount) = stage(site)
    let order = RowOrder.shuffled(site.rowCount, seed: 7)
    let first = pendingCount * 2 / 5
    var random = SplitMix64(state: 41)
    let changed = order[first..<first + site.rowCount / 10].shuffled(using: &random)
    let pages = syncPages(
      SyncRows.entries(changed, version: 1, from: site.rowCount + 1), rowsPerPage: 1000, closesEach: closesEach)
    let remote = PreparedRemote(pages, as: form)
    return try stage.site.withCopy(of: try stage.loaded(pendingCount: pendingCount)) { copy in
      let pageCount = pages.count
      let taken = try waitFor {
        let client = try await SyncStage.open(copy, remote: remote)
        let begun = monotonicNanoseconds()
        for _ in 0..<pageCount { try await client.pullOnce() }
        let elapsed = seconds(since: begun)
        guard try await client.outboxDepth() == pendingCount else {
          throw BenchmarkError.finding("writes that were queued are gone")
        }
        try await client.close()
        return elapsed
      }
      var sample = Sample(rows: changed.count, seconds: taken, resultHash: nil)
      sample[.operationsPerSecond] = Double(changed.count) / taken
      sample.addPeakResident()
      return sample
    }
  }
}

/// `sync.decode.*`: bodies of pages of 1,000 rows, read into values.
struct SyncDecode: Subject {
  let form: BodyForm

  var name: SubjectName { .strandline }

  func sample(_ site: Site) throws -> Sample {
    let entries = SyncRows.entries(Array(0..<site.rowCount), version: 0, from: 1)
    let pages = syncPages(entries, rowsPerPage: 1000, closesEach: true)
    let bodies = pages.map { form.encode($0) }
    let begun = monotonicNanoseconds()
    var rowCount = 0
    for body in bodies {
      rowCount += try form.decode(PullAnswer.self, from: body, contentByteCountMax: 64 << 20).rows.count
    }
    let taken = seconds(since: begun)
    guard rowCount == entries.count else { throw BenchmarkError.finding("rows are missing from a body") }
    var sample = Sample(rows: rowCount, seconds: taken, resultHash: nil)
    sample[.bodyPerRow] = Double(bodies.reduce(0) { $0 + $1.count }) / Double(rowCount)
    return sample
  }
}
