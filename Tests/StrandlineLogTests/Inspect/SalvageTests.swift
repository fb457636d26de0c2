import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// What salvage does where more is lost than bytes.
struct SalvageTests {
  private func sample(_ name: String) throws -> SampleStore {
    try #require(SampleStore.all.first { $0.name == name })
  }

  private func salvage(_ image: DiskImage, epoch: UInt64? = nil) throws -> (report: SalvageReport, disk: SimulatedDisk)
  {
    let disk = SimulatedDisk(image)
    let report = try Salvage.run(
      from: SampleStore.path, to: "/new", epoch: epoch, environment: SampleStore.environment(disk, seed: 3))
    return (report, disk)
  }

  private func segments(_ store: SampleStore) -> [String] {
    store.image.files(below: SampleStore.path).filter { $0.hasSuffix(".log") }
  }

  @Test func `a store without META is rebuilt whole, with a new incarnation`() throws {
    for store in SampleStore.all where !store.name.hasPrefix("layered") {
      var image = store.image
      image.remove("/store/META")
      let (report, disk) = try salvage(image)
      #expect(report.gapCount == store.live.filter(\.isGap).count, "\(store.name)")
      #expect(!report.usedRoot)
      let old = try StoreInspector(
        path: "/store", environment: SampleStore.environment(SimulatedDisk(store.image), seed: 1))
      let new = try StoreInspector(path: "/new", environment: SampleStore.environment(disk, seed: 1))
      let roots = (try #require(try old.survey().root.root), try #require(try new.survey().root.root))
      #expect(roots.0.identifier == roots.1.identifier)
      #expect(roots.0.incarnation != roots.1.incarnation)
      #expect(roots.0.epoch == roots.1.epoch && roots.0.resetSequence == roots.1.resetSequence)
    }
  }

  @Test func `a missing segment leaves a gap, and the numbers behind it keep their places`() throws {
    let store = try sample("history, killed")
    let lost = segments(store)[1]
    var image = store.image
    image.remove(lost)
    let (report, disk) = try salvage(image)
    let numbers = store.commits.filter { $0.file == lost }.map(\.sequence)
    #expect(
      report.gaps.last
        == GapPayload(
          first: SequenceNumber(numbers.first ?? 0), last: SequenceNumber(numbers.last ?? 0), reason: .missing))
    #expect(report.missingOrdinals == [2...2])
    #expect(!report.isComplete)
    var options = SampleStore.options(disk, seed: 4)
    let log = try Log.open(at: "/new", options: options)
    let last = try #require(store.live.last?.sequence)
    #expect(log.status.last.sequence == SequenceNumber(last))
    // Life goes on behind the last number.
    #expect(try log.append([SampleStore.text(1)]).sequence == SequenceNumber(last + 1))
    try log.close()
    options.access = .readOnly
    #expect(try Log.open(at: "/new", options: options).status.last.sequence == SequenceNumber(last + 1))
  }

  @Test func `the highest epoch is saved, an older one only when asked for`() throws {
    let store = try sample("reset, closed")
    let (highest, disk) = try salvage(store.image)
    #expect(highest.epoch == 1 && highest.olderCommitCount == 3 && highest.isComplete)
    #expect(try Log.open(at: "/new", options: SampleStore.options(disk)).status.epoch == 1)
    let (older, olderDisk) = try salvage(store.image, epoch: 0)
    #expect(older.epoch == 0 && older.highestEpoch == 1 && older.commitCount == 3)
    let log = try Log.open(at: "/new", options: SampleStore.options(olderDisk))
    #expect(log.status.epoch == 0 && log.openReport.commitCount == 3)
    #expect(throws: LogError.noStore(path: "/store")) { try salvage(store.image, epoch: 7) }
  }

  @Test func `a damaged RESET still ends its epoch: what it erased stays erased`() throws {
    let store = try sample("reset, killed")
    let reset = try #require(store.commits.first { $0.isReset })
    for isRootGone in [false, true] {
      var image = store.image
      image.flip(reset.file, byte: reset.range.lowerBound + 70, bit: 1)
      if isRootGone { image.remove("/store/META") }
      let (report, disk) = try salvage(image)
      #expect(report.epoch == 1 && !report.hasReset && report.olderCommitCount == 3)
      #expect(report.commitCount == store.live.count - 1)
      let log = try Log.open(at: "/new", options: SampleStore.options(disk))
      #expect(log.status.epoch == 1 && log.status.resetSequence == SequenceNumber(reset.sequence))
    }
  }

  @Test func `a copy of a segment under another name fills in what the segment lost`() throws {
    let store = try sample("history, closed")
    let file = segments(store)[1]
    let bytes = try #require(store.image.bytes(of: file))
    let victims = store.commits.filter { $0.file == file }
    var image = store.image
    image.put("/store/seg-00000000000000000009-00000000000000aa.log", bytes)
    image.flip(file, byte: victims[2].range.lowerBound + 70, bit: 0)
    image.flip("/store/seg-00000000000000000009-00000000000000aa.log", byte: victims[4].range.lowerBound + 70, bit: 0)
    let (report, _) = try salvage(image)
    #expect(report.gapCount == 1, "the GAP of the sample itself")
    #expect(report.commitCount == store.live.filter { !$0.isGap }.count)
  }

  @Test func `a segment of another store, or of another history of this one, is not mixed in`() throws {
    let store = try sample("history, closed")
    let other = try sample("reset, closed")
    var image = store.image
    image.copy(segments(other)[2], of: other.image, to: "/store/seg-00000000000000000004-00000000000000bb.log")
    let (report, _) = try salvage(image)
    #expect(report.unusable.count == 1)
    #expect(report.commitCount == store.live.filter { !$0.isGap }.count)
  }

  @Test func `layers and the anchor go along; with a layer lost the log is replayed from its beginning`() throws {
    let store = try sample("layered, closed")
    let (whole, disk) = try salvage(store.image)
    #expect(whole.layers.count == 1 && whole.isComplete)
    let log = try Log.open(at: "/new", options: SampleStore.options(disk))
    #expect(log.status.layers.count == 1)
    #expect(log.openReport.commitCount == store.replayable.count)
    var image = store.image
    let layer = try #require(image.files(below: "/store").first { $0.hasSuffix(".lyr") })
    image.edit(layer) { $0.removeLast() }
    let (damaged, other) = try salvage(image)
    #expect(damaged.lostLayers == [layer] && !damaged.isComplete)
    let reopened = try Log.open(at: "/new", options: SampleStore.options(other))
    #expect(reopened.status.layers.isEmpty)
    #expect(reopened.openReport.commitCount == store.live.count)
  }

  @Test func `damage in front of the anchor is a gap in the history and costs the state nothing`() throws {
    let store = try sample("layered, killed")
    let victim = store.live[2]
    #expect(victim.sequence < store.anchorSequence)
    var image = store.image
    image.flip(victim.file, byte: victim.range.lowerBound + 10, bit: 2)
    let (report, disk) = try salvage(image)
    #expect(
      report.gaps == [
        GapPayload(first: SequenceNumber(victim.sequence), last: SequenceNumber(victim.sequence), reason: .damaged)
      ])
    let log = try Log.open(at: "/new", options: SampleStore.options(disk))
    #expect(log.openReport.commitCount == store.replayable.count)
    #expect(log.status.layers.count == 1)
  }

  @Test func `salvage keeps its hands off what is there, in use, or empty`() throws {
    let store = try sample("history, killed")
    let disk = SimulatedDisk(store.image)
    let environment = SampleStore.environment(disk, seed: 2)
    disk.edit { $0.put("/new", [1]) }
    #expect(throws: LogError.targetExists(path: "/new")) {
      try Salvage.run(from: "/store", to: "/new", environment: environment)
    }
    let log = try Log.open(at: "/store", options: SampleStore.options(disk))
    #expect(
      throws: LogError.locked(path: "/store", by: LockFile.read(in: StoreDirectory(path: "/store", fileSystem: disk)))
    ) {
      try Salvage.run(from: "/store", to: "/other", environment: environment)
    }
    try log.close()
    try disk.makeDirectory("/empty")
    #expect(throws: LogError.noStore(path: "/empty")) {
      try Salvage.run(from: "/empty", to: "/other", environment: environment)
    }
    #expect(disk.image.names(in: "/") == ["empty", "new", "store"])
  }

  /// Every call of a salvage failing in turn: an error, and nothing is left behind.
  @Test func `a salvage that fails leaves its source alone and no target`() throws {
    let store = try sample("layered, closed")
    var callCount = 0
    var number = 0
    var isDone = false
    while !isDone {
      let disk = SimulatedDisk(store.image)
      let faulty = FaultyFileSystem(disk)
      faulty.fail(call: number, with: .errno(Errno(5)))
      do throws(LogError) {
        try Salvage.run(from: "/store", to: "/new", environment: SampleStore.environment(faulty, seed: 3))
        // Calls on the source may fail and cost only what they would have read.
        if faulty.struckCalls.isEmpty { isDone = true }
      } catch {
        faulty.heal()
        var stands = false
        // The parent's sync comes last, and the error says that the new store stands.
        if case .copyUnconfirmed(path: "/new", _) = error { stands = true }
        #expect(disk.image.names(in: "/") == (stands ? ["new", "store"] : ["store"]), "call \(number): \(error)")
        #expect(!"\(error)".contains(".tmp-"), "call \(number): \(error)")
        #expect(stands == !"\(error)".contains("Nothing was changed"), "call \(number): \(error)")
      }
      var after = disk.image
      for name in after.names(in: "/") where name != "store" { after.remove("/\(name)") }
      #expect(after.hash() == store.image.hash(), "call \(number)")
      callCount = number
      number += 1
    }
    print("salvage: each of \(callCount) calls failed once")
  }
}
