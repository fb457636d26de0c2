import StrandlineTestSupport
import Testing

@testable import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Compaction over damage and failures: what cannot be merged keeps nothing else from being done.
struct CompactionTroubleTests {
  private final class Notes: StoreObserver {
    private let failures = TestLock<[StoreError]>([])

    var failed: [StoreError] { failures.withLock { $0 } }

    func note(_ event: StoreEvent) {
      if case .compactionFailed(let error) = event { failures.withLock { $0.append(error) } }
    }
  }

  private static func open(_ disk: any FileSystem, _ notes: Notes) throws -> Store {
    var options = StoreWorkload.options(disk, seed: 61)
    options.observer = notes
    return try Store.open(at: "/store", schema: StoreWorkload.schema, options: options)
  }

  /// 1.6 kB that nothing compresses to much less than half.
  private static func title(_ id: Int64) -> String {
    var random = SeededGenerator(seed: UInt64(id))
    return (0..<100).map { _ in String(random.next(), radix: 16) }.joined()
  }

  /// Writes rows with these numbers, a durable commit each.
  private static func write(_ ids: Range<Int64>, to store: Store) throws {
    for id in ids {
      try store.write { (tx) throws(StoreError) in
        _ = try tx.put(["id": .int(id), "title": .string(title(id))], into: "notes")
      }
    }
  }

  private static func layerFiles(_ disk: SimulatedDisk) -> [String] {
    disk.image.files(below: "/store").filter { $0.contains("/layer-") }
  }

  private static func segmentCount(_ disk: SimulatedDisk) -> Int {
    disk.image.files(below: "/store").count { $0.contains("/seg-") }
  }

  /// A bit in a block of rows: the definitions of tables stand in the first block.
  private static func rot(_ file: String, on disk: SimulatedDisk) {
    disk.edit { $0.edit(file) { $0[4096 + ($0.count - 4096) / 2] ^= 4 } }
  }

  /// How many of the rows a view shows, each of them right; the others are told as damaged.
  private static func checkRows(_ ids: Range<Int64>, of store: Store, damaged file: String) throws -> Int {
    let view = try store.view()
    var count = 0
    for id in ids {
      do throws(StoreError) {
        let row = try view.get(.int(id), in: "notes")
        #expect(row?["title"] == .string(title(id)), "row \(id)")
        count += 1
      } catch {
        guard case .corrupt(let report) = error else { throw error }
        #expect(report.file == file, "row \(id): \(report)")
      }
    }
    return count
  }

  @Test func `a layer that has rotted is merged around, the log is released, and writers go on`() throws {
    let disk = SimulatedDisk()
    let notes = Notes()
    let store = try Self.open(disk, notes)
    var next = Int64(0)
    while Self.layerFiles(disk).count < 2 {
      try Self.write(next..<next + 10, to: store)
      next += 10
    }
    let file = try #require(Self.layerFiles(disk).sorted().first)
    Self.rot(file, on: disk)
    #expect(notes.failed.isEmpty)
    try Self.write(next..<2000, to: store)
    #expect(notes.failed.count == 1, "\(notes.failed)")
    guard case .corrupt(let report)? = notes.failed.first else {
      Issue.record("\(notes.failed)")
      return
    }
    #expect(report.file == file && report.reason == .layerDamaged)
    #expect(store.engine.gate.writeOutFailure == nil)
    // Some sixty layers were written out and merged, and what the log holds is what is in memory.
    let layerCount = try store.statistics().layers.count { $0.kind == .disk }
    #expect(layerCount <= MergePolicy.layerCountMax + 1, "\(layerCount) layers")
    #expect(Self.layerFiles(disk).count == layerCount)
    #expect(Self.segmentCount(disk) < 40, "\(Self.segmentCount(disk)) segments")
    let readable = try Self.checkRows(0..<2000, of: store, damaged: file)
    #expect(readable > 1900 && readable < 2000)

    // Asked for, it says what is in the way, and the log goes all the same.
    #expect {
      try store.compact()
    } throws: { error in
      guard case StoreError.corrupt(let report) = error else { return false }
      return report.file == file
    }
    #expect(Self.segmentCount(disk) <= 2)
    try Self.write(2000..<2010, to: store)
    try store.close()
    let again = try Self.open(disk, Notes())
    #expect(try Self.checkRows(0..<2010, of: again, damaged: file) == readable + 10)
  }

  @Test func `where nothing can be put in force, no files pile up`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let notes = Notes()
    let store = try Self.open(faulty, notes)
    try Self.write(0..<200, to: store)
    let before = Self.layerFiles(disk).count
    faulty.fail([.sync], with: .errno(Errno(5)), .forever)
    #expect(throws: WriteError<StoreError>.self) { try Self.write(200..<400, to: store) }
    faulty.heal()
    // A store that is poisoned names nothing any more.
    for _ in 0..<5 {
      store.engine.lane.withLock { store.engine.freeze(&$0) }
      store.engine.compactInBackground()
    }
    #expect(Self.layerFiles(disk).count <= before + 1)
    #expect(notes.failed.contains { if case .poisoned = $0 { true } else { false } })
    try? store.close()
    let again = try Self.open(disk.kill(), Notes())
    let view = try again.view()
    for id in Int64(0)..<200 { #expect(try view.get(.int(id), in: "notes")?["title"] == .string(Self.title(id))) }
  }

  /// Each layer rots as soon as it is there, so nothing can be merged, until META has no room for one more name.
  @Test func `too many layers to name are told to writers, and leave no files`() throws {
    let disk = SimulatedDisk()
    let notes = Notes()
    let store = try Self.open(disk, notes)
    var rotten: Set<String> = []
    var id = Int64(0)
    var refusal: StoreError?
    while refusal == nil, id < 20_000 {
      do {
        try Self.write(id..<id + 1, to: store)
      } catch WriteError<StoreError>.store(let error) {
        refusal = error
      }
      id += 1
      for file in Self.layerFiles(disk) where rotten.insert(file).inserted { Self.rot(file, on: disk) }
    }
    guard case .limitExceeded(let limit)? = refusal else {
      Issue.record("\(String(describing: refusal)) after \(id) rows")
      return
    }
    #expect(limit.name == "layerCount")
    #expect(Self.layerFiles(disk).count == LayerEntry.countMax)
    for _ in 0..<3 { store.engine.compactInBackground() }
    #expect(Self.layerFiles(disk).count == LayerEntry.countMax)
  }

  @Test func `rounds that fail come less and less often, and writers who wait are not kept waiting`() {
    var trouble = CompactionTrouble()
    var pauses: [UInt64] = []
    for _ in 0..<9 {
      trouble.noteRound(failed: true)
      pauses.append(trouble.pause(writersWait: false) / 1_000_000_000)
      #expect(trouble.pause(writersWait: true) == 1_000_000_000)
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 64, 64])
    trouble.noteRound(failed: false)
    trouble.noteRound(failed: true)
    #expect(trouble.pause(writersWait: false) == 1_000_000_000)
  }

  @Test func `layers are merged around barriers only`() {
    let unit = UInt64(100)
    let equal = [UInt64](repeating: 100, count: 9)
    #expect(MergePolicy.next(byteCounts: equal, unit: unit) == 0..<9)
    #expect(MergePolicy.next(byteCounts: equal, unit: unit, around: [2]) == 3..<9)
    #expect(MergePolicy.next(byteCounts: equal, unit: unit, around: [4]) == 0..<4)
    #expect(MergePolicy.next(byteCounts: equal, unit: unit, around: [3, 7]) == nil)
    #expect(MergePolicy.next(byteCounts: equal, unit: unit, around: Array(0..<9)) == nil)
    let rising = (0..<15).map { UInt64(100) << (2 * $0) }
    #expect(MergePolicy.next(byteCounts: rising, unit: unit) == 0..<4)
    #expect(MergePolicy.next(byteCounts: rising, unit: unit, around: [0]) == 1..<5)
    #expect(MergePolicy.next(byteCounts: [], unit: unit, around: []) == nil)
  }
}
