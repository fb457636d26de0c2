internal import StrandlineSync

/// `sync.*`: a client and a server at the main job, the client's pull beside a store of bytes that decodes nothing.
enum SyncBenches {
  static let all: [Benchmark] = pulls + bodies + pushes + firsts + [reset] + clientResets + rates + [memory]

  private static let million = 1_000_000

  private static let pulls: [Benchmark] = {
    func pull(_ name: String, _ summary: String, _ work: SyncPull, peers: [any Subject] = []) -> Benchmark {
      Benchmark(
        name: "sync.pull.100kInto1M\(name)",
        summary: "100k server changes over 10k queued writes into 1M rows, \(summary)",
        fullRowCount: million, smallRowCount: 2000, primary: .operationsPerSecond, subjects: [work] + peers,
        isIsolated: true)
    }
    func rocksDB(_ changesPerCommit: Int?) -> EngineSubject {
      EngineSubject(engine: .rocksDB, work: Merge(changesPerCommit: changesPerCommit))
    }
    var each = pull("", "1,000 a durable commit, not decoded", SyncPull(), peers: [rocksDB(1000)])
    each.reference = .rocksDB
    each.goal = 4
    each.goals = [.operationsPerSecond: 400_000]
    var once = pull(
      ".onePull", "100 pages and one commit, not decoded", SyncPull(closesEach: false), peers: [rocksDB(nil)])
    once.reference = .rocksDB
    return [
      each, once, pull(".json", "1,000 a durable commit, from JSON", SyncPull(form: .json)),
      pull(".binary", "1,000 a durable commit, from the binary form", SyncPull(form: .binary)),
    ]
  }()

  private static let bodies: [Benchmark] = [("json", BodyForm.json), ("binary", .binary)].map { name, form in
    Benchmark(
      name: "sync.decode.\(name)", summary: "pages of 1,000 rows read from \(form.contentType)",
      fullRowCount: 200_000, smallRowCount: 2000, primary: .rowsPerSecond, subjects: [SyncDecode(form: form)])
  }

  private static let pushes: [Benchmark] = [
    ("sync.push.10k", "10k queued writes to a server in the same process, both durable", true),
    ("sync.push.10k.client", "the client's share of it: answers come at once", false),
  ].map { name, summary, hasServer in
    Benchmark(
      name: name, summary: summary, fullRowCount: 10_000, smallRowCount: 600, primary: .operationsPerSecond,
      subjects: [SyncPush(hasServer: hasServer)], isIsolated: true)
  }

  private static let firsts: [Benchmark] = [("json", false), ("binary", true)].map { name, offersBinary in
    Benchmark(
      name: "sync.first.1M.\(name)", summary: "a first sync of 1M rows over HTTP on loopback, bodies in \(name)",
      fullRowCount: million, smallRowCount: 2000, primary: .rowsPerSecond,
      subjects: [SyncFirst(offersBinary: offersBinary)], isIsolated: true)
  }

  private static let reset = Benchmark(
    name: "sync.reset.1M", summary: "reset() of a client with 1M rows and 100k queued writes, report included",
    fullRowCount: million, smallRowCount: 2000, primary: .seconds, subjects: [SyncReset()], isIsolated: true)

  private static let clientResets: [Benchmark] = {
    func bench(_ name: String, _ summary: String, _ work: SyncClientReset) -> Benchmark {
      Benchmark(
        name: "sync.clientReset.1M.\(name)", summary: summary, fullRowCount: million, smallRowCount: 2000,
        primary: .seconds, subjects: [work], isIsolated: true)
    }
    let queues = [("none", "no queued write", 0), ("1k", "1k queued writes", 1000), ("100k", "100k queued writes", 10)]
    let modes: [(String, ClientResetMode.Name)] = [
      ("recover", .recover), ("recoverOrDiscard", .recoverOrDiscard), ("discard", .discard), ("manual", .manual),
    ]
    let all = modes.flatMap { name, mode in
      queues.map { queue, text, rows in
        bench(
          "\(name).\(queue)", "a client reset of 1M rows with \(text), mode \(mode.rawValue)",
          SyncClientReset(mode: mode, rowsPerQueued: rows))
      }
    }
    let plain = bench(
      "discard.none.withoutBefore", "the same without a callback that looks at the state before",
      SyncClientReset(mode: .discard, rowsPerQueued: 0, hasBefore: false))
    return all + [plain]
  }()

  private static let rates: [Benchmark] = [1, 8, 32].flatMap { count in
    [("pull", "pages of 500 rows", ServerRates.Kind.pull), ("push", "pushes of ten writes, durable", .push)].map {
      name, summary, kind in
      Benchmark(
        name: "sync.server.\(name).\(count)connection\(count == 1 ? "" : "s")",
        summary: "\(summary), over HTTP from \(count) connection\(count == 1 ? "" : "s")", fullRowCount: million,
        smallRowCount: 2000, primary: .operationsPerSecond,
        subjects: [ServerRates(kind: kind, connectionCount: count)], isIsolated: true)
    }
  }

  private static let memory = Benchmark(
    name: "sync.server.memory", summary: "memory of the server for each idle connection, 1,000 of them",
    fullRowCount: 1000, smallRowCount: 64, primary: .perConnection, subjects: [ConnectionMemory()], isIsolated: true)
}
