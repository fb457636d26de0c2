/// Where one engine works: its stores, made once for all benches of an invocation.
struct EngineStage: Sendable {
  let kind: EngineKind
  let site: Site
  let cacheByteCount: Int
  let keepsOneDay: Bool

  var rowCount: Int { site.rowCount }
  /// One row in a hundred has a local change in the outbox of a loaded store.
  var pendingCount: Int { rowCount / 100 }

  func settings(syncs: Bool = true, keepsAllInLog: Bool = false) -> EngineSettings {
    EngineSettings(
      cacheByteCount: cacheByteCount, syncsCommits: syncs, keepsAllInLog: keepsAllInLog, keepsOneDay: keepsOneDay)
  }

  func open(_ path: String, keepsAllInLog: Bool = false) throws -> any StoreEngine {
    try kind.open(path, settings(keepsAllInLog: keepsAllInLog))
  }

  /// All rows, written in the order of their keys and compacted: the best that reads can start from.
  func compacted() throws -> String {
    try shared("compacted") { path in
      let corpus = CorpusCache.rows(rowCount)
      let engine = try kind.open(path, settings(syncs: false))
      try write(RowOrder.byKey(corpus), of: corpus, to: engine)
      try engine.compact()
      try engine.close()
    }
  }

  /// All rows, written in random order, and an outbox. What writes start from.
  func loaded() throws -> String {
    try shared("loaded") { path in
      let corpus = CorpusCache.rows(rowCount)
      let engine = try kind.open(path, settings(syncs: false))
      try write(Array(0..<rowCount), of: corpus, to: engine)
      try LocalChanges(rowCount: rowCount).write(to: engine)
      if kind.restsCompacted { try engine.compact() }
      try engine.close()
    }
  }

  /// All rows, each written `foldCount` times over, compacted, and one in twenty of them once more: the same rows and as much that is recent,
  /// whatever came before.
  func rewritten(_ foldCount: Int) throws -> String {
    try shared("rewritten\(foldCount)\(keepsOneDay ? "-kept" : "")") { path in
      let engine = try kind.open(path, settings(syncs: false))
      let recent = Array(0..<max(1, rowCount / 20))
      for version in 0...foldCount {
        if version == foldCount { try engine.compact() }
        let indices = version == foldCount ? recent : RowOrder.shuffled(rowCount, seed: UInt64(version))
        // The newest version is the same, however many there are.
        try Compaction.write(
          RowBatch(indices: indices, version: UInt32(100 - foldCount + version)), to: engine)
      }
      try engine.close()
    }
  }

  /// What a process leaves that was killed after its last durable commit of 1,000 rows, all of them in the log.
  func killed() throws -> String {
    try shared("killed") { path in
      let corpus = CorpusCache.rows(rowCount)
      let running = "\(path).running"
      try makeDirectories(running)
      let engine = try kind.open(running, settings(syncs: false, keepsAllInLog: true))
      try write(Array(0..<rowCount), of: corpus, to: engine, rowsPerCommit: 1000)
      // The files of an open store are what a killed process leaves.
      try copyTree(running, to: path)
      try engine.close()
      try removeTree(running)
    }
  }

  private func shared(_ name: String, _ build: (String) throws -> Void) throws -> String {
    let directory = try site.shared("\(name)-\(kind.name.text)") { directory in
      try makeDirectories("\(directory)/store")
      try build("\(directory)/store")
    }
    return "\(directory)/store"
  }

  private func write(
    _ places: [Int], of corpus: RowCorpus, to engine: any StoreEngine, rowsPerCommit: Int = 100_000
  ) throws {
    for start in stride(from: 0, to: places.count, by: rowsPerCommit) {
      try engine.commit { transaction in
        for place in places[start..<min(start + rowsPerCommit, places.count)] { try transaction.put(corpus[place]) }
      }
    }
  }
}
