import Strandline
@_spi(Engine) import StrandlineLog
import StrandlineTestSupport
import Testing

struct CompactionBesideWritersTests {
  private static let schema = Schema(tables: [
    TableSchema("notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("text", .string)])
  ])

  private static func write(_ ids: Range<Int64>, round: Int, to store: Store) throws {
    for start in stride(from: ids.lowerBound, to: ids.upperBound, by: 100) {
      try store.write { (tx) throws(StoreError) in
        for id in start..<min(start + 100, ids.upperBound) {
          try tx.put(["id": .int(id), "text": .string(Self.text(id, round))], into: "notes")
        }
      }
    }
  }

  private static func text(_ id: Int64, _ round: Int) -> String {
    // Digits that hardly compress.
    (Int64(0)..<10).reduce("round \(round), note \(id)") { $0 + " \((id &* 16 &+ $1) &* 0x5851_F42D_4C95_7F2D)" }
  }

  private static func expect(_ ids: Range<Int64>, round: Int, in store: Store) throws {
    let view = try store.view()
    for id in ids {
      guard try view.get(.int(id), in: "notes")?["text"] == .string(text(id, round)) else {
        Issue.record("note \(id) is not of round \(round)")
        return
      }
    }
  }

  private final class Steps: StoreObserver {
    private let seen = Lock<[CompactionStep]>([])

    var all: [CompactionStep] { seen.withLock { $0 } }

    func note(_ event: StoreEvent) {
      if case .compacted(let step) = event { seen.withLock { $0.append(step) } }
    }
  }

  @Test func `a memory layer that fills up during a merge is written out in the middle of it`() throws {
    let creations = Lock<(count: Int?, store: Store?)>((nil, nil))
    let disk = RecordingFileSystem(SimulatedDisk()) { call, moment in
      guard call.operation == .create, moment == .after, call.path.contains("/layer-") else { return }
      let store = creations.withLock { state -> Store? in
        state.count = state.count.map { $0 + 1 }
        // The first layer made is what was in memory, the second the merge.
        return state.count == 2 ? state.store : nil
      }
      do {
        if let store { try Self.write(10_000..<14_000, round: 2, to: store) }
      } catch {
        Issue.record(error)
      }
    }
    let steps = Steps()
    var options = StoreOptions()
    options.memoryLayerByteCountMax = 1 << 20
    options.observer = steps
    options.log.environment.fileSystem = disk
    let store = try Store.open(at: "/store", schema: Self.schema, options: options)
    try Self.write(0..<1000, round: 0, to: store)
    try store.compact()
    try Self.write(500..<1500, round: 1, to: store)
    let before = steps.all.count
    creations.withLock { $0 = (0, store) }
    try store.compact()
    creations.withLock { $0 = (nil, nil) }

    #expect(steps.all.dropFirst(before).prefix(3).map(\.isFromMemory) == [true, true, false])
    func check(_ store: Store) throws {
      try Self.expect(0..<500, round: 0, in: store)
      try Self.expect(500..<1500, round: 1, in: store)
      try Self.expect(10_000..<14_000, round: 2, in: store)
      #expect(try store.view().query("notes").count() == 5500)
    }
    try check(store)
    try store.close()
    let again = try Store.open(at: "/store", options: options)
    try check(again)
    try again.compact()
    #expect(try again.statistics().layers.count { $0.kind == .disk } == 1)
    try check(again)
    try again.close()
  }

  @Test(arguments: [StoreOptions.History.none, .commits(1 << 40)])
  func `a compaction gives the log back, the active segment too, unless its commits are kept`(
    _ history: StoreOptions.History
  ) throws {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.history = history
    options.log.environment.fileSystem = disk
    let store = try Store.open(at: "/store", schema: Self.schema, options: options)
    try Self.write(0..<20_000, round: 0, to: store)
    func logs() throws -> [String] { try disk.list("/store").filter { $0.hasSuffix(".log") } }
    let first = try logs()
    #expect(first.count == 1)
    try store.compact()
    #expect(try logs().count == 1)
    #expect(try (logs() == first) == (history != .none))

    try Self.write(0..<10, round: 1, to: store)
    // So little is not worth another segment.
    let last = try logs()
    try store.compact()
    #expect(try logs() == last)
    try store.close()
    let again = try Store.open(at: "/store", options: options)
    try Self.expect(0..<10, round: 1, in: again)
    try Self.expect(10..<20_000, round: 0, in: again)
    try again.close()
  }
}
