/// `load.*`: filling an empty log as a download does, in durable commits of 1,000 rows from one writer.
enum LoadBenches {
  static let all: [Benchmark] =
    [("1M", 1_000_000), ("10M", 10_000_000)].map { name, rows in
      Benchmark(
        name: "load.\(name)", summary: "\(name) rows, 1,000 a durable commit, one writer", fullRowCount: rows,
        smallRowCount: 20_000, primary: .rowsPerSecond,
        subjects: [StrandlineAppend(work: work), CReferenceAppend(work: work), RawAppend(work: work)]
          + EngineKind.besideLogs.map { EngineSubject(engine: $0, work: EngineAppend(work: work)) },
        reference: .cReference, goals: [.rowsPerSecond: 1_000_000])
    } + [kept]

  private static let work = AppendWork(writers: 1, recordsPerCommit: 1000, isSynced: true)

  /// What a day of history costs in bytes written and on disk.
  private static let kept = Benchmark(
    name: "load.1M.kept", summary: "the same into a store that keeps every version of a day, and the log",
    fullRowCount: 1_000_000, smallRowCount: 20_000, primary: .rowsPerSecond,
    subjects: [
      EngineSubject(engine: EngineKind.besideLogs[0], work: EngineAppend(work: work), keepsOneDay: true)
    ])
}
