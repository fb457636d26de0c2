import Glibc
import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// What may be done inside a write, and what a cancelled task leaves.
struct StoreRulesTests {
  private static let schema = Schema(tables: [
    TableSchema("todos", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)])
  ])

  private static func open(_ disk: any FileSystem = SimulatedDisk()) throws -> Store {
    var options = StoreOptions()
    options.log.environment.fileSystem = disk
    return try Store.open(at: "/store", schema: schema, options: options)
  }

  private static func put(_ id: Int64) -> (inout Transaction) throws(StoreError) -> Void {
    { (tx) throws(StoreError) in _ = try tx.put(["id": .int(id), "title": "written"], into: "todos") }
  }

  /// Ends the process as a success unless something in it traps.
  private static func insideAWrite(_ body: @escaping (Store) throws -> Void) {
    do {
      let store = try open()
      try store.write { (tx) throws in
        try put(1)(&tx)
        try body(store)
      }
    } catch {
      exit(EXIT_SUCCESS)
    }
    exit(EXIT_SUCCESS)
  }

  private static func writeInside() { insideAWrite { store in try store.write(put(2)) } }
  private static func resetInside() { insideAWrite { store in _ = try store.reset() } }
  private static func compactInside() { insideAWrite { store in try store.compact() } }
  private static func closeInside() { insideAWrite { store in try store.close() } }

  @Test func `a write inside a write traps, and so does whatever else needs the lane`() async {
    await #expect(processExitsWith: .failure) { Self.writeInside() }
    await #expect(processExitsWith: .failure) { Self.resetInside() }
    await #expect(processExitsWith: .failure) { Self.compactInside() }
    await #expect(processExitsWith: .failure) { Self.closeInside() }
  }

  @Test func `a read inside a write sees the state in front of it, and the transaction its own`() throws {
    let store = try Self.open()
    try store.write(Self.put(1))
    try store.write { (tx) throws in
      try Self.put(2)(&tx)
      try store.read { (view) throws in
        #expect(try view.get(1, in: "todos") != nil)
        #expect(try view.get(2, in: "todos") == nil)
      }
      #expect(try store.query("todos").count() == 1)
      #expect(try tx.query("todos").count() == 2)
      #expect(try tx.get(2, in: "todos") != nil)
    }
    #expect(try store.query("todos").count() == 2)
    try store.close()
  }

  @Test func `a task cancelled before has written nothing, and one cancelled in the write answers the truth`()
    async throws
  {
    let store = try Self.open()
    let before = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.write(Self.put(1))
    }
    before.cancel()
    await #expect(throws: CancellationError.self) { try await before.value }
    #expect(try store.view().get(1, in: "todos") == nil)
    let within = Task {
      try await store.write { (tx) throws(StoreError) in
        withUnsafeCurrentTask { $0?.cancel() }
        try Self.put(2)(&tx)
      }
    }
    try await within.value
    #expect(try store.view().get(2, in: "todos") != nil)
    for operation in [
      { _ = try await store.reset() }, { try await store.compact() }, { _ = try await store.verify() },
      { _ = try await store.read { $0.sequence } },
    ] as [@Sendable () async throws -> Void] {
      let cancelled = Task {
        while !Task.isCancelled { await Task.yield() }
        try await operation()
      }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
    #expect(try store.view().epoch == 0)
    try await store.close()
  }

  @Test func `reading on a thread of its own gives what it gives here`() async throws {
    let store = try Self.open()
    try await store.write(Self.put(3))
    #expect(try await store.read { view in try view.get(3, in: "todos")?["title"] } == "written")
    struct Refused: Error {}
    await #expect(throws: Refused.self) { try await store.read { _ in throw Refused() } }
    await #expect(throws: StoreError.unknownTable("nothing")) {
      try await store.read { try $0.query("nothing").count() }
    }
    try await store.close()
    await #expect(throws: StoreError.closed) { try await store.read { $0.sequence } }
  }

  /// Whatever a workload left, one thread and several make the same of it.
  @Test func `an open on many threads is an open on one`() throws {
    for seed in UInt64(0)..<20 * UInt64(SoakScale.factor) {
      let disk = SimulatedDisk(DiskImage())
      let run = StoreRun(StoreWorkload(seed: seed &+ SoakScale.seed, count: 60), on: disk)
      for index in run.workload.operations.indices { try run.perform(index) }
      run.abandon()
      let image = disk.image
      var found: [(state: StoreModel.State, sequence: SequenceNumber, recordCount: Int)] = []
      for threadCount in [1, 2, 5] {
        var options = StoreWorkload.options(SimulatedDisk(image), seed: seed)
        options.log.replayThreadCount = threadCount
        let store = try Store.open(at: StoreWorkload.storePath, options: options)
        found.append(
          (
            try StoreWorkload.state(of: store), try store.view().sequence, Int(store.openReport.log.recordCount)
          ))
        try store.close()
      }
      for other in found.dropFirst() {
        #expect(other.state == found[0].state && other.sequence == found[0].sequence, "seed \(seed)")
        #expect(other.recordCount == found[0].recordCount, "seed \(seed)")
      }
    }
  }
}
