/// One piece of work that every engine does the same way.
protocol StoreWork: Sendable {
  /// Makes the stores that runs start from.
  func prepare(_ stage: EngineStage) throws
  /// One timed run.
  func sample(_ stage: EngineStage) throws -> Sample
  /// Rows are written in random order: some engines take minutes beyond some size.
  var writesAtRandom: Bool { get }
}

extension StoreWork {
  var writesAtRandom: Bool { true }
}

/// An engine that does a piece of work.
struct EngineSubject: Subject {
  let engine: EngineKind
  let work: any StoreWork
  var cacheByteCount = EngineSettings().cacheByteCount
  var keepsOneDay = false

  var name: SubjectName { engine.name }
  /// Background threads and memory of one engine are no other's.
  var isIsolated: Bool { true }

  func takes(rowCount: Int) -> Bool { !work.writesAtRandom || rowCount <= engine.randomWriteRowCountMax }

  func prepare(_ site: Site) throws { try work.prepare(stage(site)) }

  func sample(_ site: Site) throws -> Sample { try work.sample(stage(site)) }

  private func stage(_ site: Site) -> EngineStage {
    EngineStage(kind: engine, site: site, cacheByteCount: cacheByteCount, keepsOneDay: keepsOneDay)
  }
}
