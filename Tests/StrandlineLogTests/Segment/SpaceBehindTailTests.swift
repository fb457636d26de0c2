import Glibc
import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// What lies allocated behind the tail: given back at close, and read no more than it has to be.
struct SpaceBehindTailTests {
  private let reserve = SpaceAhead.reserveByteCount

  private func options(_ fileSystem: any FileSystem, spaceAhead: Int) -> LogOptions {
    var options = LogOptions.crashTest(fileSystem, seed: 1, clock: ManualClock())
    options.segmentByteCountMax = 64 << 20
    options.spaceAheadByteCount = spaceAhead
    return options
  }

  /// A store whose last process kept 1 MiB ahead; the one after it, `log`, keeps 64 KiB and has appended.
  private func reopened(_ fileSystem: any FileSystem) throws -> Log {
    let first = try Log.open(at: SmallStore.path, options: options(fileSystem, spaceAhead: 1 << 20))
    try first.append([[1, 2, 3]])
    try first.close()
    let log = try Log.open(at: SmallStore.path, options: options(fileSystem, spaceAhead: 64 << 10))
    try log.append([[4]])
    return log
  }

  @Test func `close gives back what lies beyond a step and the reserve, synced before META says clean`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk())
    let log = try reopened(recorder)
    recorder.mark("closing")
    try log.close()
    var calls: [FileCall] = []
    for entry in recorder.entries.reversed() {
      guard case .call(let call, _, _) = entry else { break }
      if call.operation.changesDisk { calls.insert(call, at: 0) }
    }
    let cut = try #require(calls.firstIndex { $0.operation == .truncate })
    #expect(calls[cut...].map(\.operation) == [.truncate, .sync, .write, .syncData])
    #expect(calls[cut...].map { $0.name.prefix(4) } == ["seg-", "seg-", "META", "META"])
    // The mark that close wrote is the last frame.
    let end = try #require(calls[..<cut].last { $0.operation == .write })
    let tailEnd = (end.offset ?? 0) + Int64(end.byteCount ?? 0)
    #expect(calls[cut].offset == (tailEnd + reserve + 64 << 10 + 4095) & ~4095)
  }

  @Test func `what close leaves is enough for a reset on a full disk`() throws {
    let disk = SimulatedDisk()
    try reopened(disk).close()
    let faulty = FaultyFileSystem(SimulatedDisk(disk.image))
    let log = try Log.open(at: SmallStore.path, options: options(faulty, spaceAhead: 64 << 10))
    #expect(log.openReport.wasClosedCleanly)
    let segment = try #require(SmallStore.segments(of: disk.image).first)
    let size = Int64(disk.image.bytes(of: segment)?.count ?? 0)
    faulty.setScript { call in
      guard call.name.hasPrefix("seg-") else { return nil }
      let end = (call.offset ?? 0) + Int64(call.byteCount ?? 0)
      return [.write, .allocate].contains(call.operation) && end > size || call.operation == .create
        ? .errno(Errno(ENOSPC)) : nil
    }
    #expect(try log.reset(carrying: [[UInt8](repeating: 5, count: 30_000)]).epoch == 1)
  }

  @Test func `a store that keeps as much ahead as before is closed without a cut`() throws {
    let recorder = RecordingFileSystem(SimulatedDisk())
    for value in 0..<3 {
      let log = try Log.open(at: SmallStore.path, options: options(recorder, spaceAhead: 256 << 10))
      try log.append([[UInt8](repeating: UInt8(value), count: 100_000)])
      try log.close()
    }
    for case .call(let call, _, _) in recorder.entries { #expect(call.operation != .truncate, "\(call)") }
  }

  @Test func `a cut that is not synced leaves the store as it was`() throws {
    let disk = SimulatedDisk()
    let faulty = FaultyFileSystem(disk)
    let log = try reopened(faulty)
    faulty.setScript { $0.operation == .sync && $0.name.hasPrefix("seg-") ? .errno(Errno(EIO)) : nil }
    let error = #expect(throws: LogError.self) { try log.close() }
    guard case .poisoned = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    for image in [disk.image, disk.powerLoss(keeping: .dropAll).image, disk.powerLoss(keeping: .keepAll).image] {
      let recovered = try RecoveredLog.open(SimulatedDisk(image), seed: 3)
      #expect(recovered.entries.map(\.sequence) == [1, 2])
      #expect(!recovered.log.openReport.wasClosedCleanly)
    }
  }

  // MARK: Holes

  /// A store on the real disk with `byteCount` bytes of hole behind its tail.
  private func sparse(_ path: String, _ byteCount: Int64, closes: Bool) throws -> String {
    let log = try Log.open(at: path, options: options(PosixFileSystem(), spaceAhead: 64 << 10))
    try log.append([[1, 2, 3]])
    if closes { try log.close() }
    let name = try #require(StoreListing(try PosixFileSystem().list(path)).segments.first)
    let file = try PosixFileSystem().open("\(path)/\(name)", .readWrite)
    try PosixFileSystem().truncate(file, to: byteCount)
    try PosixFileSystem().close(file)
    return "\(path)/\(name)"
  }

  private func readByteCount(_ recorder: RecordingFileSystem) -> Int {
    recorder.entries.reduce(0) { sum, entry in
      guard case .call(let call, .count(let count), _) = entry, call.operation == .read else { return sum }
      return sum + count
    }
  }

  @Test(arguments: [true, false])
  func `a hole is not read, and what lies behind it is`(closes: Bool) throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    let size: Int64 = 2 << 30
    let segment = try sparse(path, size, closes: closes)
    let probe = try PosixFileSystem().open(segment, .read)
    let isTold = try PosixFileSystem().nextData(probe, from: 1 << 30) == nil
    try PosixFileSystem().close(probe)
    let recorder = RecordingFileSystem(PosixFileSystem())
    let environment = Environment(fileSystem: recorder, clock: SystemClock(), randomBits: Environment.system.randomBits)
    #expect(try StoreInspector(path: path, environment: environment).verify().worst == nil)
    // Where the file system does not tell, all of it was read.
    if isTold { #expect(readByteCount(recorder) < 16 << 20) }
    // One byte behind 2 GiB of nothing.
    try PosixFileSystem().overwrite(segment, [7], at: size - 9)
    let report = try StoreInspector(path: path, environment: environment).verify()
    let tail = try #require(report.tail)
    #expect(tail.evidence.contentEnd == size - 8)
    #expect(!tail.evidence.isZeroBehind && tail.verdict == .torn)
    let log = try Log.open(at: path, options: options(PosixFileSystem(), spaceAhead: 64 << 10))
    #expect(log.openReport.cut?.byteCount == size - 8 - (log.openReport.cut?.offset ?? 0))
  }

  @Test func `a promise behind a hole counts`() throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/store"
    var options = options(PosixFileSystem(), spaceAhead: 64 << 10)
    options.compresses = false
    let log = try Log.open(at: path, options: options)
    for value in 0..<6 { try log.append([[UInt8](repeating: UInt8(value), count: 1 << 20)]) }
    let name = try #require(StoreListing(try PosixFileSystem().list(path)).segments.first)
    // The second commit becomes a hole as large as it was.
    let bytes = try PosixFileSystem().bytes(of: "\(path)/\(name)")
    let copy = "\(directory.path)/copy"
    mkdir(copy, 0o755)
    try PosixFileSystem().make("\(copy)/META", try PosixFileSystem().bytes(of: "\(path)/META"))
    let file = try PosixFileSystem().open("\(copy)/\(name)", .create)
    let hole = 2 << 20..<4 << 20
    try PosixFileSystem().put(file, Array(bytes[..<hole.lowerBound]), at: 0)
    try PosixFileSystem().put(file, Array(bytes[hole.upperBound...]), at: Int64(hole.upperBound))
    try PosixFileSystem().close(file)
    let error = #expect(throws: LogError.self) { try Log.open(at: copy, options: options) }
    guard case .corrupt(let report) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(report.laterFrameCount ?? 0 > 0)
  }
}
