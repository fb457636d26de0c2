import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// What people, other programs and clocks do to a log.
struct OperatorTests {
  private let store = DamagedLog()

  @Test func `strange names are left alone and told, and our own left-overs go`() throws {
    try store.append(0..<10)
    let ours = ["META.tmp", "\(SegmentFileName(ordinal: 9, id: 9)).tmp", "kept-20260101T000000Z-00ff00ff00ff00ff.tmp"]
    let strange = [
      ".DS_Store", "seg-1.log", "notes.txt~", "META.bak", "seg-00000000000000000001-zz.log", "a\u{1B}[31m",
    ]
    store.disk.edit { image in
      for name in ours + strange { image.put("\(DamagedLog.path)/\(name)", [1, 2, 3]) }
      image.put("\(DamagedLog.path)/socket", DiskImage.Stranger.fifo)
      image.put("\(DamagedLog.path)/directory", DiskImage.Stranger.directory)
    }
    let opened = try store.open()
    #expect(opened.records == DamagedLog.records(0..<10))
    #expect(Set(opened.log.openReport.removed) == Set(ours))
    #expect(Set(opened.log.openReport.unknown) == Set(strange + ["socket", "directory"]))
    let names = store.disk.image.names(in: DamagedLog.path)
    for name in ours { #expect(!names.contains(name)) }
    for name in strange { #expect(names.contains(name)) }
  }

  @Test func `something else in the place of a file is refused with its name`() throws {
    try store.append(0..<40)
    for path in ["\(DamagedLog.path)/META"] + store.segments {
      for stranger in [DiskImage.Stranger.directory, .fifo, .symbolicLink(to: "/elsewhere")] {
        let whole = store.disk
        store.disk = whole.kill()
        store.disk.edit {
          $0.remove(path)
          $0.put(path, stranger)
        }
        do throws(LogError) {
          _ = try store.open()
          Issue.record("\(stranger) as \(path) was opened")
        } catch {
          #expect("\(error)".contains(path), "\(error)")
        }
        store.disk = whole
      }
    }
  }

  @Test func `old segments that reappear after a reset are removed and never read`() throws {
    try store.append(0..<40)
    let old = store.disk.image
    let opened = try store.open()
    try opened.log.reset(carrying: [[9]])
    try opened.log.append([[10]])
    for name in old.names(in: DamagedLog.path) where SegmentFileName(name) != nil {
      let path = "\(DamagedLog.path)/\(name)"
      store.disk.edit { image in
        if !image.exists(path) { image.copy(path, of: old, to: path) }
      }
    }
    store.disk = store.disk.kill()
    let again = try store.open()
    #expect(again.records == [[9], [10]])
    #expect(!again.log.openReport.removed.isEmpty)
    #expect(store.segments.count <= 2)
  }

  @Test func `a META from before a reset beside the log from after it is not believed`() throws {
    try store.append(0..<40)
    let root = "\(DamagedLog.path)/META"
    let older = try #require(store.disk.image.bytes(of: root))
    let opened = try store.open()
    try opened.log.reset()
    try opened.log.append([[1]])
    store.disk = store.disk.kill()
    store.disk.edit { $0.put(root, older) }
    #expect(store.refusal() != nil, "segments that the older META names are gone")
  }

  @Test func `a log from before a reset beside the META from after it is refused`() throws {
    try store.append(0..<10)
    let older = store.disk.image
    try store.open().log.reset(carrying: [[1]])
    let segment = try #require(store.segments.first)
    store.disk.edit { $0.copy(segment, of: older, to: segment) }
    #expect(store.refusal()?.reason == .logOlderThanRoot)
  }

  @Test func `a directory that is moved away under the writer is noticed before META is trusted again`() throws {
    let opened = try store.open()
    try opened.log.append([[1]])
    store.disk.edit { image in
      let copy = image
      image.remove(DamagedLog.path)
      image.copy(DamagedLog.path, of: copy, to: DamagedLog.path)
    }
    var failure: LogError?
    for value in 0..<200 where failure == nil {
      do throws(LogError) { try opened.log.append([DamagedLog.record(value)]) } catch { failure = error }
    }
    guard case .poisoned(let first, _) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect("\(first)".contains("was moved, replaced or removed while the store was open"), "\(first)")
  }

  @Test func `a directory that is gone is told as such`() throws {
    let opened = try store.open()
    try opened.log.append([[1]])
    store.disk.edit { $0.remove(DamagedLog.path) }
    var failure: LogError?
    for value in 0..<400 where failure == nil {
      do throws(LogError) { try opened.log.append([DamagedLog.record(value)]) } catch { failure = error }
    }
    #expect("\(try #require(failure))".contains("was moved, replaced or removed while the store was open"))
  }

  @Test func `clocks that jump change no order and hold nothing up`() throws {
    let opened = try store.open()
    var expected: [[UInt8]] = []
    for (index, time) in [0, Int64.max, -1, 1_700_000_000_000, Int64.min, 4_000_000_000_000].enumerated() {
      store.clock.jumpWall(to: time)
      expected.append(DamagedLog.record(index))
      try opened.log.append([DamagedLog.record(index)])
      if index == 3 { try opened.log.reset() }
      if index == 3 { expected = [] }
    }
    try opened.log.close()
    let again = try store.open()
    #expect(again.records == expected)
    let reader = try again.log.read()
    #expect(try reader.next()?.time == Int64.min)
    #expect(try reader.next()?.time == 4_000_000_000_000)
  }

  @Test func `a file system that only reads is read and not reset`() throws {
    try store.append(0..<10)
    let faulty = FaultyFileSystem(store.disk)
    faulty.setScript { call in
      switch call.operation {
      case .write, .truncate, .allocate, .unlink, .rename, .link, .makeDirectory: .errno(Errno(EROFS))
      default: nil
      }
    }
    #expect(throws: LogError.self) {
      let opened = try store.open(on: faulty)
      try opened.log.append([[1]])
    }
    faulty.setScript(nil)
    #expect(try store.open(on: store.disk.kill(), access: .readOnly).records == DamagedLog.records(0..<10))
  }

  @Test func `signals that interrupt every call three times change nothing`() throws {
    let faulty = FaultyFileSystem(store.disk)
    faulty.setScript { call in
      // Syncs and closes are not run again: an interrupted sync has failed.
      switch call.operation {
      case .sync, .syncData, .syncDirectory, .close: nil
      default: call.number % 4 == 3 ? nil : .errno(Errno(EINTR))
      }
    }
    do {
      let opened = try store.open(on: faulty)
      for value in 0..<40 { try opened.log.append([DamagedLog.record(value)]) }
      try opened.log.reset(carrying: [[1]], keepCopy: true)
      try opened.log.append([[2]])
      try opened.log.backup(to: "/backup")
      try opened.log.close()
    }
    #expect(faulty.struckCalls.count > 100)
    #expect(try store.open(on: store.disk.kill()).records == [[1], [2]])
  }

  @Test func `a full disk refuses appends cleanly, reset works, and space makes it go on`() throws {
    let opened = try store.open()
    for value in 0..<20 { try opened.log.append([DamagedLog.record(value)]) }
    store.disk.edit { $0.byteCountMax = $0.usedByteCount }
    var refused = 0
    var acknowledged = 20
    for value in 20..<400 {
      do throws(LogError) {
        try opened.log.append([DamagedLog.record(value)])
        acknowledged += 1
      } catch {
        guard case .outOfSpace = error else {
          Issue.record("\(error)")
          return
        }
        refused += 1
      }
    }
    #expect(refused > 0)
    #expect(opened.log.status.last.sequence == SequenceNumber(UInt64(acknowledged)))
    let report = try opened.log.reset(carrying: [[1]])
    #expect(report.position.sequence == SequenceNumber(UInt64(acknowledged + 1)))
    store.disk.edit { $0.byteCountMax = nil }
    try opened.log.append([[2]])
    try opened.log.close()
    #expect(try store.open().records == [[1], [2]])
  }

  @Test func `eight writers on a full disk are each told the truth`() throws {
    var options = LogOptions()
    options.segmentByteCountMax = 64 << 10
    options.spaceAheadByteCount = 64 << 10
    options.environment = Environment(fileSystem: store.disk, clock: SystemClock())
    let log = try Log.open(at: DamagedLog.path, options: options)
    store.disk.edit { $0.byteCountMax = $0.usedByteCount + (300 << 10) }
    let acknowledged = Lock<Set<[UInt8]>>([])
    let refusedCount = Lock(0)
    withThreads(8) { writer in
      for value in 0..<60 {
        let record = [UInt8(writer), UInt8(value)] + [UInt8](repeating: 3, count: 3000)
        do throws(LogError) {
          try log.append([record])
          acknowledged.withLock { _ = $0.insert(record) }
        } catch {
          guard case .outOfSpace = error else {
            Issue.record("\(error)")
            return
          }
          refusedCount.withLock { $0 += 1 }
        }
      }
    }
    #expect(refusedCount.withLock { $0 } > 0)
    try log.reset(carrying: [[1]])
    try log.close()
    let kept = acknowledged.withLock { $0 }
    #expect(kept.count + refusedCount.withLock { $0 } == 480)
    #expect(log.status.last.sequence == SequenceNumber(UInt64(kept.count + 1)))
  }

  @Test(arguments: 0..<14)
  func `a reset behind any number of commits, none and a full segment among them, numbers as ever`(count: Int) throws {
    let record = [UInt8](repeating: 6, count: 900)
    let opened = try store.open()
    for _ in 0..<count { try opened.log.append([record]) }
    #expect(try opened.log.reset().position.sequence == SequenceNumber(UInt64(count + 1)))
    #expect(try opened.log.reset(carrying: [[1]]).position.sequence == SequenceNumber(UInt64(count + 2)))
    #expect(try opened.log.append([record]).sequence == SequenceNumber(UInt64(count + 3)))
    store.disk = store.disk.kill()
    let again = try store.open()
    #expect(again.records == [[1], record])
    #expect(try again.log.append([[2]]).sequence == SequenceNumber(UInt64(count + 4)))
    try again.log.close()
    #expect(try store.open().records == [[1], record, [2]])
  }

  @Test func `a hundred resets and kills leave no file behind`() throws {
    for round in 0..<100 {
      do {
        let opened = try store.open()
        for value in 0..<8 { try opened.log.append([DamagedLog.record(value)]) }
        if round % 3 != 0 { try opened.log.reset(carrying: [[UInt8(round)]]) }
        for value in 0..<round % 5 { try opened.log.append([DamagedLog.record(value)]) }
      }
      store.disk =
        round % 2 == 0
        ? store.disk.kill() : SimulatedDisk(store.disk.image.powerLoss(keeping: .random(seed: UInt64(round))))
    }
    let opened = try store.open()
    try opened.log.reset()
    try opened.log.close()
    #expect(store.disk.image.names(in: DamagedLog.path).count <= 4, "META, LOCK and what the last reset left")
    #expect(store.disk.image.usedByteCount < 1 << 20)
  }

  @Test func `twenty thousand tiny segments open in one pass and few descriptors`() throws {
    store.options.segmentByteCountMax = 4 << 10
    let opened = try store.open()
    let record = [UInt8](repeating: 5, count: 4000)
    let count = min(20_000, 2_000 * CrashScale.scale)
    for _ in 0..<count { try opened.log.append([record], durability: .buffered) }
    try opened.log.close()
    #expect(store.segments.count > count / 2)
    let descriptors = store.disk.openDescriptorCount
    let again = try store.open()
    #expect(again.records.count == count)
    #expect(store.disk.openDescriptorCount - descriptors < 16)
  }
}
