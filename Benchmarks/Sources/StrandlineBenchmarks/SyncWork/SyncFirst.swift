internal import StrandlineServer
internal import StrandlineSync

/// `sync.first.*`: a new client's first sync over HTTP on loopback, both ends in one process.
struct SyncFirst: Subject {
  let offersBinary: Bool

  var name: SubjectName { .strandline }

  func prepare(_ site: Site) throws { _ = try BenchServer.loaded(site) }

  func sample(_ site: Site) throws -> Sample {
    let stage = SyncStage(site: site)
    let (rowCount, offersBinary) = (site.rowCount, offersBinary)
    return try stage.site.withCopy(of: try BenchServer.loaded(site)) { copy in
      try stage.site.withEmptyDirectory { directory in
        let taken = try waitFor {
          let server = try await BenchServer.open(copy)
          let http = try BenchServer.serve(server)
          let client = try await SyncStage.open(
            "\(directory)/client", remote: try BenchServer.remote(http, offersBinary: offersBinary),
            token: BenchServer.token, pageLimit: BenchServer.pageRowCount)
          let begun = monotonicNanoseconds()
          try await client.sync()
          let elapsed = seconds(since: begun)
          guard try await client.from(SyncRows.table).select(count: true).execute().count == rowCount else {
            throw BenchmarkError.finding("the first sync did not bring all rows")
          }
          try await client.close()
          await http.stop()
          try await server.close()
          return elapsed
        }
        var sample = Sample(rows: rowCount, seconds: taken, resultHash: nil)
        sample.addPeakResident()
        return sample
      }
    }
  }
}
