/// `append.*`: commits of one or more records from one or more writers.
enum AppendBenches {
  static let all: [Benchmark] = [true, false].flatMap { isSynced in
    [1, 8, 64].flatMap { writers in
      [1, 10, 1000].map { records in
        benchmark(AppendWork(writers: writers, recordsPerCommit: records, isSynced: isSynced))
      }
    }
  }

  private static func benchmark(_ work: AppendWork) -> Benchmark {
    let commits = commitCount(work)
    return Benchmark(
      name: name(work), summary: summary(work), fullRowCount: commits * work.recordsPerCommit,
      smallRowCount: max(commits / 40, work.writers) * work.recordsPerCommit, primary: .commitsPerSecond,
      subjects: subjects(work), reference: .cReference, goal: goal(work))
  }

  static func name(_ work: AppendWork) -> String {
    let writers = work.writers == 1 ? "1writer" : "\(work.writers)writers"
    let records = work.recordsPerCommit == 1 ? "" : ".\(work.recordsPerCommit)records"
    return "append.\(work.isSynced ? "synced" : "buffered").\(writers)\(records)"
  }

  private static func summary(_ work: AppendWork) -> String {
    let records = work.recordsPerCommit == 1 ? "one row" : "\(work.recordsPerCommit) rows"
    let writers = work.writers == 1 ? "1 writer" : "\(work.writers) writers"
    let durability = work.isSynced ? "each durable when it returns" : "one sync at the end"
    return "commits of \(records), \(writers), \(durability)"
  }

  /// So many that a run takes about half a second here.
  private static func commitCount(_ work: AppendWork) -> Int {
    switch (work.isSynced, work.recordsPerCommit) {
    case (true, 1000): 320
    case (true, _): work.writers == 1 ? 4000 : work.writers * 1000
    case (false, 1000): 640
    case (false, 10): 64_000
    case (false, _): 256_000
    }
  }

  private static func goal(_ work: AppendWork) -> Double? {
    guard work.isSynced, work.recordsPerCommit == 1 else { return nil }
    switch work.writers {
    case 1: return 0.9
    case 64: return 0.8
    default: return nil
    }
  }

  private static func subjects(_ work: AppendWork) -> [any Subject] {
    let logs: [any Subject] = [
      StrandlineAppend(work: work), StrandlineAsyncAppend(work: work), CReferenceAppend(work: work),
    ]
    return logs + (work.writers == 1 ? [RawAppend(work: work)] : []) + engines(work)
  }

  /// Engines commit durably. Several writers only where one sync is for all of them: else it is one writer's rate again.
  private static func engines(_ work: AppendWork) -> [any Subject] {
    guard work.isSynced, work.recordsPerCommit == 1 else { return [] }
    let engines = EngineKind.besideLogs.filter { work.writers == 1 || $0.groupsCommits }
    return engines.map { EngineSubject(engine: $0, work: EngineAppend(work: work)) }
  }
}
