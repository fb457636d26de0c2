import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import Strandline
@testable @_spi(Engine) import StrandlineLog

/// Damage in a layer of a store: typed errors, never wrong data, found by verify; and salvage keeps the rest.
struct StoreSalvageTests {
  /// A store with one layer and something in the log behind it.
  struct Subject {
    static let table = "todos"
    var image: DiskImage
    var entry: LayerEntry
    var footer: LayerFooter
    var blocks: [Range<Int>]
    /// What each row's title was, the newest last.
    var titles: [Int64: [String]]
    var path: String { "/store/\(entry.fileName)" }

    static let schema = Schema(tables: [
      TableSchema(
        table, key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string), ColumnSchema("text", .string)],
        indexes: [IndexSchema("byTitle", ["title"])]),
      TableSchema("notes", key: [KeyColumn("id", .int)], columns: [ColumnSchema("title", .string)]),
    ])

    static func options(_ fileSystem: any FileSystem, seed: UInt64, history: StoreOptions.History) -> StoreOptions {
      var options = StoreWorkload.options(fileSystem, seed: seed)
      options.memoryLayerByteCountMax = 16 << 20
      options.history = history
      return options
    }

    /// - Parameters:
    ///   - rowCount: in each of the two tables.
    ///   - keepsLog: whether the log still holds what is in the layer.
    ///   - writesBehind: whether there are commits behind the layer.
    ///   - textCount: so many long texts the first table's rows share. A block holds most of them once at most, a dictionary all of them.
    init(rowCount: Int, keepsLog: Bool, writesBehind: Bool = true, textCount: Int = 0, seed: UInt64) throws {
      let disk = SimulatedDisk()
      let options = Self.options(disk, seed: seed, history: keepsLog ? .commits(.max) : .none)
      let store = try Store.open(at: "/store", schema: Self.schema, options: options)
      var random = SeededGenerator(seed: seed)
      let texts = (0..<textCount).map { _ in
        (0..<12).map { _ in String(random.next(), radix: 36) }.joined(separator: " ")
      }
      var titles: [Int64: [String]] = [:]
      func write(_ ids: [Int64]) throws {
        for start in stride(from: 0, to: ids.count, by: 50) {
          try store.write { (tx) throws(StoreError) in
            for id in ids[start..<min(start + 50, ids.count)] {
              let title = "row \(id), \(String(random.next(), radix: 36)) \(String(random.next(), radix: 36))"
              titles[id, default: []].append(title)
              let text = texts.randomElement(using: &random).map { Value.string($0) } ?? .null
              try tx.put(["id": .int(id), "title": .string(title), "text": text], into: Self.table)
              try tx.put(["id": .int(id), "title": .string("a note to \(id)")], into: "notes")
            }
          }
        }
      }
      try write((0..<Int64(rowCount)).map { $0 })
      try store.compact()
      entry = try #require(store.engine.log.status.layers.first)
      let layer = try #require(store.engine.lane.withLock { $0.state.stack.disk.first })
      footer = layer.footer
      try #require(footer.times.byteCount > 0)
      blocks = (0..<layer.index.blockCount).map { layer.index.offset(of: $0)..<layer.index.offset(of: $0 + 1) }
      if writesBehind { try write([3, 70, Int64(rowCount)]) }
      try store.close()
      self.titles = titles
      image = disk.image
    }
  }

  /// What may have happened to a layer's file.
  enum Damage: String, CaseIterable, Sendable {
    case oneHeader, bothHeaders, firstBlock, oneBlock, lastBlock, manyBlocks, filter, index, dictionary, times, footer
    case truncatedInBlocks, truncatedInFooter, grown, missing, foreign, zeros

    func apply(_ subject: Subject) -> DiskImage {
      var image = subject.image
      let path = subject.path
      let footer = subject.footer
      let footerOffset = Int(subject.entry.byteCount) - LayerFooter.encodedByteCount
      func flip(_ place: Int) { image.flip(path, byte: place, bit: 3) }
      func middle(_ range: Range<Int>) -> Int { (range.lowerBound + range.upperBound) / 2 }
      switch self {
      case .oneHeader: flip(40)
      case .bothHeaders: for copy in LayerHeader.copyOffsets { flip(copy + 40) }
      case .firstBlock: flip(middle(subject.blocks[0]))
      case .oneBlock: flip(middle(subject.blocks[subject.blocks.count / 3]))
      case .lastBlock: flip(subject.blocks[subject.blocks.count - 1].upperBound - 1)
      case .manyBlocks: for block in subject.blocks where block.lowerBound % 3 == 0 { flip(block.lowerBound + 12) }
      case .filter: flip(footer.filterOffset + footer.filterByteCount / 2)
      case .index: flip(footer.index.offset + footer.index.byteCount / 2)
      case .dictionary: flip(footer.dictionary.byteCount > 0 ? footer.dictionary.offset + 100 : footerOffset + 176)
      case .times: flip(footer.times.offset)
      case .footer: flip(footerOffset + 60)
      case .truncatedInBlocks: image.edit(path) { $0.removeSubrange(middle(4096..<footer.blocksEnd)...) }
      case .truncatedInFooter: image.edit(path) { $0.removeLast(5) }
      case .grown: image.edit(path) { $0 += [1, 2, 3] }
      case .missing: image.remove(path)
      case .foreign: image.edit(path) { bytes in for place in bytes.indices { bytes[place] = bytes[place] &* 31 &+ 7 } }
      case .zeros:
        let block = subject.blocks[subject.blocks.count / 2].lowerBound / 4096 * 4096
        image.edit(path) { bytes in for place in block..<block + 4096 { bytes[place] = 0 } }
      }
      return image
    }

    /// Nothing of the rows is in what is damaged.
    var costsNothing: Bool { [.oneHeader, .bothHeaders, .filter, .grown, .times].contains(self) }
    /// With the file's end goes what the blocks are compressed against.
    var costsDictionary: Bool {
      [.dictionary, .footer, .truncatedInBlocks, .truncatedInFooter].contains(self)
    }
    var costsAll: Bool { self == .missing || self == .foreign }
  }

  private static func environment(_ disk: any FileSystem, seed: UInt64) -> Environment {
    Subject.options(disk, seed: seed, history: .none).log.environment
  }

  /// Reads the damaged store: what is answered is right, and what is not is a typed error.
  private static func checkReads(_ subject: Subject, _ image: DiskImage, _ what: String) throws {
    let options = Subject.options(SimulatedDisk(image), seed: 5, history: .none)
    let store: Store
    do {
      store = try Store.open(at: "/store", options: options)
    } catch {
      expectTyped(error, subject, what)
      return
    }
    var failed = 0
    for (id, titles) in subject.titles {
      do {
        let row = try store.view().get(.int(id), in: Subject.table)
        #expect(row?["title"] == .string(titles[titles.count - 1]), "\(what): row \(id) is wrong")
      } catch {
        expectTyped(error, subject, what)
        failed += 1
      }
    }
    #expect(failed < subject.titles.count, "\(what): no row can be read")
    do {
      let count = try store.view().query(Subject.table).all().count
      #expect(count == subject.titles.count, "\(what): a scan gives \(count) rows")
    } catch {
      expectTyped(error, subject, what)
    }
  }

  private static func expectTyped(_ error: any Error, _ subject: Subject, _ what: String) {
    guard case StoreError.corrupt(let report) = error else {
      Issue.record("\(what): \(error)")
      return
    }
    #expect(report.reason == .layerDamaged && report.file == subject.path, "\(what): \(report)")
  }

  private static func verify(_ disk: any FileSystem, _ path: String) throws -> VerifyReport {
    try StoreInspector(path: path, environment: environment(disk, seed: 6)).verify {
      (entry, id, directory) throws(LogError) in
      try LayerInspector(in: directory, of: id).proof(of: entry)
    }
  }

  /// Saves a damaged store and compares what the new one holds with the model.
  ///
  /// - Returns: the report and how many rows are gone.
  @discardableResult
  private static func checkSalvage(
    _ subject: Subject, _ image: DiskImage, _ what: String
  ) throws -> (report: StoreSalvageReport, lostCount: Int) {
    let disk = SimulatedDisk(image)
    let report = try StoreSalvage.run(from: "/store", to: "/new", environment: environment(disk, seed: 7))
    #expect(disk.image.files(below: "/store") == image.files(below: "/store"))
    #expect(report.unsettled == nil, "\(what): \(report.unsettled.map { "\($0)" } ?? "")")
    let again = try verify(disk, "/new")
    #expect(again.refusal == nil, "\(what)")
    #expect((again.worst ?? .note) < .corruption, "\(what): \(again.findings)")
    let store = try Store.open(at: "/new", options: Subject.options(disk, seed: 8, history: .commits(.max)))
    let view = try store.view()
    guard view.tableNames.contains(Subject.table) else {
      #expect(report.layers.contains { layer in layer.outcome == .lost || layer.lost.contains { $0.family != "row" } })
      return (report, subject.titles.count)
    }
    func mayBeLost(_ id: Int64) -> Bool {
      report.layers.contains { layer in
        layer.outcome == .lost
          || layer.lost.contains { keys in
            if keys.isOpenEnded || keys.family == nil { return true }
            guard keys.family == "row", keys.table == Subject.table else { return false }
            return (keys.after.flatMap { Int64($0) } ?? .min) <= id && id <= (keys.before.flatMap { Int64($0) } ?? .max)
          }
      }
    }
    var lostCount = 0
    for (id, titles) in subject.titles {
      let row = try view.get(.int(id), in: Subject.table)
      guard let row else {
        #expect(mayBeLost(id), "\(what): row \(id) is gone and the report does not say so")
        lostCount += 1
        continue
      }
      #expect(row["title"] == .string(titles[titles.count - 1]), "\(what): row \(id) is not what it was")
      // The index knows each row that is there.
      let found = try view.query(Subject.table).where("title", .equals, row["title"] ?? .null).all()
      #expect(
        found.count == 1 && found.first?["id"] == .int(id), "\(what): the index finds \(found.count) of row \(id)")
    }
    #expect(!report.isComplete || lostCount == 0, "\(what)")
    // It is a store like any other.
    try store.write { (tx) throws(StoreError) in try tx.put(["id": 1, "title": "on"], into: Subject.table) }
    try store.compact()
    #expect(try store.view().get(1, in: Subject.table)?["title"] == "on")
    try store.close()
    return (report, lostCount)
  }

  @Test(arguments: Damage.allCases)
  func `damage is met by the read, seen by verify, and costs salvage what it hit`(damage: Damage) throws {
    let subject = try Subject(rowCount: 1500, keepsLog: false, seed: 51)
    let image = damage.apply(subject)
    try Self.checkReads(subject, image, "\(damage)")
    let report = try Self.verify(SimulatedDisk(image), "/store")
    let finding = report.findings.first { $0.severity == .corruption && $0.file == subject.path }
    #expect(finding != nil, "\(damage): verify does not see it")
    let saved = try Self.checkSalvage(subject, image, "\(damage)")
    if damage.costsNothing { #expect(saved.lostCount == 0 && saved.report.isComplete, "\(saved.report)") }
    if damage.costsAll { #expect(saved.report.layers.map(\.outcome) == [.lost]) }
    if !damage.costsAll, damage != .manyBlocks, damage != .firstBlock, damage != .truncatedInBlocks {
      #expect(saved.lostCount < subject.titles.count / 2, "\(damage): \(saved.lostCount) rows are lost")
    }
  }

  @Test(arguments: Damage.allCases)
  func `what the log still holds comes back from there`(damage: Damage) throws {
    for writesBehind in [true, false] {
      let subject = try Subject(rowCount: 600, keepsLog: true, writesBehind: writesBehind, seed: 52)
      let saved = try Self.checkSalvage(subject, damage.apply(subject), "\(damage)")
      #expect(saved.lostCount == 0 && saved.report.isComplete)
      let areInLog = saved.report.layers.allSatisfy { $0.isInLog }
      #expect(areInLog)
    }
  }

  /// Blocks of 4 KiB and a dictionary, which only layers above a megabyte have that become smaller by it.
  @Test(arguments: [Damage.oneBlock, .index, .dictionary, .footer, .zeros])
  func `a layer with a dictionary loses the blocks that need it only with the dictionary`(damage: Damage) throws {
    let subject = try Subject(rowCount: 9000, keepsLog: false, textCount: 64, seed: 53)
    try #require(subject.footer.dictionary.byteCount > 0)
    let image = damage.apply(subject)
    try Self.checkReads(subject, image, "\(damage)")
    let saved = try Self.checkSalvage(subject, image, "\(damage)")
    if damage.costsDictionary {
      #expect(saved.lostCount > 0, "\(damage): no block needs the dictionary")
    } else {
      #expect(saved.lostCount < 300, "\(damage): \(saved.lostCount)")
    }
  }

  @Test func `any bit may turn`() throws {
    let subject = try Subject(rowCount: 400, keepsLog: false, seed: 54)
    var random = SeededGenerator(seed: 54 &+ SoakScale.seed)
    for _ in 0..<30 * SoakScale.factor {
      let place = Int.random(in: 0..<Int(subject.entry.byteCount), using: &random)
      var image = subject.image
      image.flip(subject.path, byte: place, bit: Int.random(in: 0..<8, using: &random))
      try Self.checkSalvage(subject, image, "byte \(place)")
    }
  }

  @Test func `a whole store is copied as it is`() throws {
    let subject = try Subject(rowCount: 300, keepsLog: false, seed: 55)
    let saved = try Self.checkSalvage(subject, subject.image, "whole")
    #expect(saved.report.isComplete && saved.report.layers.map(\.outcome) == [.whole])
    #expect(saved.report.reindexedTables.isEmpty)
  }

  @Test func `a disk that fails while the new store is made leaves nothing of it or the whole`() throws {
    let subject = try Subject(rowCount: 300, keepsLog: false, seed: 56)
    let image = Damage.oneBlock.apply(subject)
    let counter = FaultyFileSystem(SimulatedDisk(image))
    try StoreSalvage.run(from: "/store", to: "/new", environment: Self.environment(counter, seed: 7))
    let stride = SoakScale.stride(of: counter.callCount, running: 60)
    for call in Swift.stride(from: 0, to: counter.callCount, by: stride) {
      let disk = SimulatedDisk(image)
      let faulty = FaultyFileSystem(disk)
      faulty.fail(call: call, with: .errno(Errno(28)), .forever)
      do {
        let report = try StoreSalvage.run(from: "/store", to: "/new", environment: Self.environment(faulty, seed: 7))
        // Calls that only look may fail without harm; then the store is there and opens.
        #expect(report.log.target == "/new")
      } catch {
        guard disk.image.bytes(of: "/new/META") != nil else { continue }
        // The parent's sync comes last: the rename may stand, and then all of the store does.
        let struck = faulty.struckCalls.first
        #expect(struck?.operation == .syncDirectory && struck?.path == "/", "call \(call): \(error)")
        let report = try Self.verify(disk, "/new")
        #expect(report.refusal == nil && (report.worst ?? .note) < .corruption, "call \(call): \(report.findings)")
      }
    }
  }
}
