import Strandline
import StrandlineTestSupport
import Testing

/// Reading everything of an open store: what has rotted is found, whole stores have no findings, and nobody is in the way.
struct ScrubTests {
  private static let rowCount = Int64(400)

  private static func options(_ fileSystem: any FileSystem) -> StoreOptions {
    var options = StoreWorkload.options(fileSystem, seed: 41)
    options.history = .commits(1 << 40)
    return options
  }

  /// A store with several segments, a layer or two, and commits behind them.
  private static func fill(_ store: Store, valueByteCount: Int = 400) throws {
    for round in 0..<2 {
      for id in 0..<rowCount {
        try store.write(durability: id % 50 == 0 ? .synced : .buffered) { (tx) throws(StoreError) in
          let title = "round \(round), row \(id) " + String(repeating: "tide \(id % 7) ", count: valueByteCount / 7)
          _ = try tx.put(["id": .int(id), "title": .string(title)], into: id % 2 == 0 ? "todos" : "notes")
        }
      }
      if round == 0 { try store.compact() }
    }
    try store.sync()
  }

  @Test func `a whole store has no findings, and all of it is read`() throws {
    let disk = SimulatedDisk()
    let store = try Store.open(at: "/store", schema: StoreWorkload.schema, options: Self.options(disk))
    try Self.fill(store)
    var told: [ScrubProgress] = []
    let report = try store.verify { progress in
      told.append(progress)
      return true
    }
    #expect(report.findings.isEmpty && report.omittedFindingCount == 0)
    #expect(report.isComplete)
    #expect(report.segmentCount > 5 && report.layerCount >= 1)
    let image = disk.image
    let byteCount = image.files(below: "/store").filter { $0.contains("/seg-") || $0.contains("/lay") }
      .reduce(0) { $0 + (image.bytes(of: $1)?.count ?? 0) }
    // Space ahead of the tail is not read, gaps between sections are not counted.
    #expect(report.byteCount > UInt64(byteCount) * 3 / 4)
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.byteCount < $1.byteCount })
    try store.close()
    #expect(throws: StoreError.closed) { try store.verify() }
  }

  /// Any bit of the bytes that something depends on.
  @Test func `whatever rots is found where it is, and nothing else is`() throws {
    let disk = SimulatedDisk()
    let store = try Store.open(at: "/store", schema: StoreWorkload.schema, options: Self.options(disk))
    try Self.fill(store)
    let whole = disk.image
    var random = SeededGenerator(seed: 42 &+ SoakScale.seed)
    // Behind the tail of the active segment nothing is written yet: it is left out.
    let segments = whole.files(below: "/store").filter { $0.contains("/seg-") }.sorted().dropLast()
    let files = segments + whole.files(below: "/store").filter { $0.contains("/layer-") }
    #expect(files.contains { $0.contains("/lay") } && files.count > 6)
    var foundIn: [String: Int] = [:]
    for number in 0..<150 * SoakScale.factor {
      let file = files[number % files.count]
      let byteCount = whole.bytes(of: file)?.count ?? 0
      // Between and behind the header's copies nothing is covered by a tag.
      let byte = Int.random(in: 4096..<byteCount, using: &random)
      disk.edit { $0.flip(file, byte: byte, bit: number % 8) }
      let report = try store.verify()
      disk.edit { $0.flip(file, byte: byte, bit: number % 8) }
      #expect(report.isComplete)
      #expect(!report.findings.isEmpty, "byte \(byte) of \(file) was not found")
      for finding in report.findings {
        guard case .damaged(let damage) = finding else {
          Issue.record("\(finding)")
          continue
        }
        #expect(damage.file == file, "byte \(byte) of \(file): \(damage)")
        #expect((damage.offset ?? 0) <= Int64(byte), "byte \(byte) of \(file): \(damage)")
      }
      foundIn[file, default: 0] += 1
    }
    #expect(foundIn.count == files.count)
    #expect(try store.verify().findings.isEmpty)
    try store.close()
  }

  @Test func `a device that does not answer is a finding of its own, and the rest is read`() throws {
    let faulty = FaultyFileSystem(SimulatedDisk())
    let store = try Store.open(at: "/store", schema: StoreWorkload.schema, options: Self.options(faulty))
    try Self.fill(store)
    let readCount = faulty.counts[.read] ?? 0
    let whole = try store.verify()
    let needed = (faulty.counts[.read] ?? 0) - readCount
    for call in stride(from: 0, to: needed, by: max(1, needed / 40)) {
      faulty.fail([.read], call: call, with: .errno(Errno(5)))
      let report = try store.verify()
      #expect(report.isComplete && report.findings.count == 1)
      guard case .unreadable(let failure)? = report.findings.first else {
        Issue.record("read \(call): \(report.findings)")
        continue
      }
      #expect(failure.operation == .read && failure.errno == Errno(5))
      #expect(report.segmentCount == whole.segmentCount && report.layerCount == whole.layerCount)
    }
    faulty.heal()
    faulty.fail([.read], with: .errno(Errno(5)), .forever)
    let dead = try store.verify()
    #expect(dead.findings.count <= ScrubReport.findingCountMax && dead.findings.count > dead.segmentCount)
    faulty.heal()
    #expect(try store.verify().findings.isEmpty)
    try store.close()
  }

  @Test(arguments: ["compact", "reset", "close"])
  func `what happens beside it does not disturb it`(_ what: String) throws {
    var options = Self.options(SimulatedDisk())
    options.memoryLayerByteCountMax = 1 << 20
    options.log.segmentByteCountMax = 1 << 20
    options.log.compresses = false
    let store = try Store.open(at: "/store", schema: StoreWorkload.schema, options: options)
    try Self.fill(store, valueByteCount: 4000)
    var callCount = 0
    func runBeside(_ progress: ScrubProgress) -> Bool {
      callCount += 1
      guard callCount == 2 else { return true }
      do {
        switch what {
        case "compact": try store.compact()
        case "reset": try store.reset()
        default: try store.close()
        }
      } catch {
        Issue.record("\(error)")
      }
      return true
    }
    if what == "close" {
      #expect(throws: StoreError.closed) { try store.verify(progress: runBeside) }
    } else {
      let report = try store.verify(progress: runBeside)
      #expect(report.isComplete && report.findings.isEmpty)
      #expect(callCount >= 2)
      try store.close()
    }
  }

  @Test func `it ends when told to`() throws {
    let store = try Store.open(at: "/store", schema: StoreWorkload.schema, options: Self.options(SimulatedDisk()))
    try Self.fill(store, valueByteCount: 4000)
    let report = try store.verify { _ in false }
    #expect(!report.isComplete && report.byteCount >= 1 << 20 && report.byteCount < 2 << 20)
    try store.close()
  }

  @Test func `a slow walk ends at once when its task is cancelled or the store closed`() async throws {
    let directory = TemporaryDirectory()
    let store = try await Store.open(at: directory.path + "/store", schema: StoreWorkload.schema)
    try await store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 1, "title": "one"], into: "notes") }
    let cancelled = Task { try await store.scrub(bytesPerSecond: 1) }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let closed = Task { try await store.scrub(bytesPerSecond: 1) }
    try await store.close()
    await #expect(throws: StoreError.closed) { try await closed.value }
  }

  private final class Notes: StoreObserver {
    let events = AsyncStream.makeStream(of: StoreEvent.self)
    func note(_ event: StoreEvent) { events.continuation.yield(event) }
  }

  @Test func `rounds go on by themselves and tell what they find`() async throws {
    let disk = SimulatedDisk()
    let notes = Notes()
    var options = StoreOptions()
    options.log.environment.fileSystem = disk
    options.scrub = StoreOptions.Scrub(bytesPerSecond: 1 << 30, interval: .seconds(1))
    options.observer = notes
    let store = try await Store.open(at: "/store", schema: StoreWorkload.schema, options: options)
    try await store.write { (tx) throws(StoreError) in
      for id in Int64(0)..<100 { _ = try tx.put(["id": .int(id), "title": .string("row \(id)")], into: "notes") }
    }
    try await store.compact()
    var roundCount = 0
    var findings: [ScrubFinding] = []
    for await event in notes.events.stream {
      if case .scrubFound(let finding) = event { findings.append(finding) }
      guard case .scrubbed(let report) = event else { continue }
      roundCount += 1
      if findings.isEmpty {
        #expect(report.findings.isEmpty)
        guard let layer = disk.image.files(below: "/store").first(where: { $0.contains("/lay") }) else { continue }
        if report.layerCount == 1 { disk.edit { $0.flip(layer, byte: 4200, bit: 1) } }
      } else {
        #expect(report.findings == findings)
        break
      }
    }
    #expect(roundCount >= 2)
    #expect(findings.count == 1 && findings.first?.file.contains("/lay") == true)
    try await store.close()
  }

  @Test func `a schedule outside its range is refused`() {
    var options = Self.options(SimulatedDisk())
    options.scrub = StoreOptions.Scrub(interval: .milliseconds(1))
    #expect(throws: StoreError.invalidOption(name: "scrub.interval", reason: "must be 1 s or more")) {
      _ = try Store.open(at: "/store", options: options)
    }
  }
}
