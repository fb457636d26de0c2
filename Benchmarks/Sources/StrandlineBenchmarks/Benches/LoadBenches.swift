/// `load.*`: filling an empty log as a download does, in durable commits of 1,000 rows from one writer.
enum LoadBenches {
  static let all: [Benchmark] = [("1M", 1_000_000), ("10M", 10_000_000)].map { name, rows in
    let work = AppendWork(writers: 1, recordsPerCommit: 1000, isSynced: true)
    return Benchmark(
      name: "load.\(name)", summary: "\(name) rows, 1,000 a durable commit, one writer", fullRowCount: rows,
      smallRowCount: 20_000, primary: .rowsPerSecond,
      subjects: [StrandlineAppend(work: work), CReferenceAppend(work: work), RawAppend(work: work)]
        + EngineKind.besideLogs.map { EngineSubject(engine: $0, work: EngineAppend(work: work)) },
      reference: .cReference, goals: [.rowsPerSecond: 1_000_000])
  }
}
