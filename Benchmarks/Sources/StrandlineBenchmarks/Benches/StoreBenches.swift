/// The benches of a store, beside the peers: the goals, the core workloads of YCSB, and the set of db_bench.
enum StoreBenches {
  static let all: [Benchmark] =
    table + history + YCSB.Letter.allCases.map(ycsb) + dbBench + small

  static let tableNames = table.map(\.name)

  private static let million = 1_000_000

  // MARK: The goals

  private static let table: [Benchmark] = [
    store(
      "open.firstRead.1M", "open to the first row, 1M rows compacted", OpenFirstRead(), primary: .seconds,
      goals: [.seconds: 0.002, .residentOpened: 67_108_864]),
    store(
      "open.firstRead.10M", "open to the first row, 10M rows compacted", OpenFirstRead(), primary: .seconds,
      rows: 10 * million, goals: [.seconds: 0.005]),
    store(
      "open.afterKill.1M", "open to the first row after kill -9, 1M rows in the log's tail",
      OpenFirstRead(start: .killed), primary: .seconds),
    store(
      "open.loadAll.1M", "open until every row is in memory under its key", OpenLoadAll(), primary: .seconds,
      goals: [.seconds: 0.15]),
    store(
      "read.random.hot", "random point reads, row copied out and hashed, 1 thread", PointReads(),
      goals: [.operationsPerSecond: 3_000_000]),
    store(
      "read.random.besideWriter", "the same while another thread makes one-row durable commits",
      PointReads(isBesideWriter: true), goals: [.operationsPerSecond: 2_000_000]),
    store(
      "scan.full", "every row in order, values hashed", FullScan(), primary: .rowsPerSecond,
      goals: [.rowsPerSecond: 16_000_000]),
    store(
      "reset.1M", "all rows and the outbox voided in one durable step; ratio: the median one-row commit against it",
      EngineReset(), primary: .seconds, goal: 1 / 1.5),
    store(
      "reset.10M", "the same with 10M rows; engines that need minutes to load so many stay away", EngineReset(),
      primary: .seconds, rows: 10 * million, goal: 1 / 1.5),
    store(
      "merge.100kInto1M", "100k server changes into 1M rows with 10k pending, 1,000 a durable commit", Merge(),
      goals: [.operationsPerSecond: 400_000]),
    store("merge.100kInto1M.oneCommit", "the same in one commit", Merge(changesPerCommit: nil)),
    store(
      "compact.1M", "compaction after one row in ten was written again", Compaction(), primary: .seconds,
      goals: [.ofRaw: 0.8]),
    store(
      "compact.1M.commitsBeside", "one-row durable commits while another thread compacts",
      CommitsBesideCompaction(), primary: .p99, goals: [.p99OfIdle: 3]),
  ]

  // MARK: History

  /// Opening must not cost what ever happened. With all of it kept, layers hold every version, and their indexes are read.
  private static let history: [Benchmark] = [false, true].flatMap { isKept in
    [1, 10, 100].map { foldCount in
      Benchmark(
        name: "open.history.\(foldCount)fold\(isKept ? ".kept" : "")",
        summary: "open to the first row, 100k rows written \(foldCount) times over"
          + (isKept ? ", all versions kept" : ""),
        fullRowCount: 100_000, smallRowCount: 500, primary: .seconds,
        subjects: [
          EngineSubject(
            engine: .strandline, work: OpenFirstRead(start: .rewritten(foldCount)), keepsOneDay: isKept)
        ], isIsolated: true)
    }
  }

  // MARK: YCSB and db_bench

  private static func ycsb(_ letter: YCSB.Letter) -> Benchmark {
    let mix =
      switch letter {
      case .a: "half reads, half updates"
      case .b: "95 % reads, 5 % updates"
      case .c: "reads only"
      case .d: "95 % reads of the newest, 5 % inserts"
      case .e: "95 % scans of 1 to 100 rows, 5 % inserts"
      case .f: "half reads, half read and written in one commit"
      }
    return store(
      "ycsb.\(letter.rawValue)", "\(mix); \(YCSB.threadCount) threads, each write durable", YCSB(letter: letter))
  }

  private static let dbBench: [Benchmark] = [
    store("dbbench.fillseq", "rows in key order, 1,000 a durable commit", BatchedWrites(kind: .fillInOrder)),
    store("dbbench.fillrandom", "rows in random order, 1,000 a durable commit", BatchedWrites(kind: .fillAtRandom)),
    store("dbbench.overwrite", "half as many rows drawn and written again", BatchedWrites(kind: .overwrite)),
    store("dbbench.readrandom", "random point reads", PointReads()),
    store("dbbench.readmissing", "point reads of keys that no row has", PointReads(keys: .missing)),
    store("dbbench.readhot", "point reads of one row in a hundred", PointReads(keys: .hot)),
    store("dbbench.seekrandom", "seeks to keys that no row has, one row read", RandomSeeks()),
    store("dbbench.readseq", "every row in order", FullScan(), primary: .rowsPerSecond),
    store("dbbench.readreverse", "every row backwards", FullScan(isBackwards: true), primary: .rowsPerSecond),
    store("dbbench.deleterandom", "half of the rows deleted, 1,000 a durable commit", BatchedWrites(kind: .delete)),
    store("dbbench.open", "open to the first row", OpenFirstRead(), primary: .seconds),
    store("dbbench.compact", "compaction of rows filled at random", CompactFilled(), primary: .seconds),
  ]

  // MARK: The second table

  /// Where a cache of 16 MiB instead of 1 GiB makes a difference.
  private static let small: [Benchmark] = [
    "open.loadAll.1M", "read.random.hot", "read.random.besideWriter", "scan.full", "merge.100kInto1M", "compact.1M",
    "ycsb.b", "ycsb.c", "ycsb.e",
  ].compactMap { name in
    (table + YCSB.Letter.allCases.map(ycsb)).first { $0.name == name }?.withCache(16 << 20)
  }

  private static func store(
    _ name: String, _ summary: String, _ work: any StoreWork, primary: Metric = .operationsPerSecond,
    rows: Int = million, goal: Double? = nil, goals: [Metric: Double] = [:]
  ) -> Benchmark {
    Benchmark(
      name: name, summary: summary, fullRowCount: rows, smallRowCount: 2000, primary: primary,
      subjects: EngineKind.all.map { EngineSubject(engine: $0, work: work) }, goal: goal, goals: goals,
      isIsolated: true)
  }
}

extension Benchmark {
  /// The same bench with another bound for the caches of all engines, in a family of its own.
  fileprivate func withCache(_ byteCount: Int) -> Benchmark {
    let engines = subjects.compactMap { $0 as? EngineSubject }
    return Benchmark(
      name: "cache\(byteCount >> 20)MiB.\(name)", summary: "\(summary); caches of \(byteCount >> 20) MiB",
      fullRowCount: fullRowCount, smallRowCount: smallRowCount, primary: primary,
      subjects: engines.map { EngineSubject(engine: $0.engine, work: $0.work, cacheByteCount: byteCount) },
      isIsolated: isIsolated)
  }
}
