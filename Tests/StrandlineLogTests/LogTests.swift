import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// What the facade promises, on the machine's own disk.
struct LogTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  private func text(_ value: Int, repeating count: Int = 1) -> [UInt8] {
    Array(String(repeating: "record \(value);", count: count).utf8)
  }

  private func replayed(_ options: LogOptions = LogOptions()) throws -> (log: Log, records: [[UInt8]]) {
    var records: [[UInt8]] = []
    let log = try Log.open(at: path, options: options) { batch in
      for frame in batch.frames {
        if frame.kind == .reset { records = [] }
        for record in batch.records(of: frame) { records.append(Array(record)) }
      }
    }
    return (log, records)
  }

  @Test func `what was appended is replayed in order after a clean close`() throws {
    let log = try Log.open(at: path)
    #expect(log.openReport.isNew)
    var expected: [[UInt8]] = []
    for value in 0..<100 {
      let records = (0..<value % 5 + 1).map { text(value * 10 + $0, repeating: value) }
      let position = try log.append(records)
      #expect(position.sequence == SequenceNumber(UInt64(value + 1)))
      expected += records
    }
    try log.close()
    let (again, records) = try replayed()
    #expect(records == expected)
    #expect(again.openReport.wasClosedCleanly)
    #expect(again.openReport.cut == nil)
    #expect(again.openReport.commitCount == 100)
    try again.close()
  }

  @Test func `letting go without close loses nothing that was synced`() throws {
    do {
      let log = try Log.open(at: path)
      for value in 0..<50 { try log.append([text(value)]) }
    }
    let (log, records) = try replayed()
    #expect(records == (0..<50).map { text($0) })
    #expect(!log.openReport.wasClosedCleanly)
  }

  @Test func `a commit of many frames is one commit`() throws {
    var generator = SeededGenerator(seed: 1)
    let log = try Log.open(at: path)
    let records = (0..<40).map { generator.bytes($0 * 4000) } + [generator.bytes(3 << 20), []]
    try log.append(records)
    try log.append([text(1)])
    try log.close()
    let (again, found) = try replayed()
    #expect(found == records + [text(1)])
    #expect(again.openReport.commitCount == 2)
    let reader = try again.read()
    #expect(try reader.next()?.records == records)
    #expect(try reader.next()?.records == [text(1)])
    #expect(try reader.next() == nil)
  }

  @Test func `segments roll and replay follows their chain`() throws {
    var options = LogOptions()
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    let log = try Log.open(at: path, options: options)
    for value in 0..<300 { try log.append([text(value, repeating: 8)]) }
    #expect(log.status.lastOrdinal > 5)
    try log.close()
    let (again, records) = try replayed(options)
    #expect(records == (0..<300).map { text($0, repeating: 8) })
    let reader = try again.read()
    var sequences: [UInt64] = []
    while let commit = try reader.next() { sequences.append(commit.position.sequence.rawValue) }
    #expect(sequences == Array(1...300))
    let middle = try again.read(after: nil)
    var position = Position.start
    for _ in 0..<150 { position = try #require(try middle.next()).position }
    #expect(try again.read(after: position).next()?.position.sequence == SequenceNumber(151))
    position.tag ^= 1
    #expect(throws: LogError.historyForked(at: SequenceNumber(150))) { try again.read(after: position) }
  }

  @Test(arguments: [LogOptions.Helpers.threads, .callerRuns])
  func `reset voids everything in front of it and keeps what it carries`(helpers: LogOptions.Helpers) throws {
    var options = LogOptions()
    options.helpers = helpers
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    let log = try Log.open(at: path, options: options)
    for value in 0..<100 { try log.append([text(value, repeating: 8)]) }
    let report = try log.reset(carrying: [text(1000)])
    #expect(report.epoch == 1)
    #expect(report.position.sequence == SequenceNumber(101))
    try log.append([text(1001)])
    let reader = try log.read()
    let reset = try #require(try reader.next())
    #expect(reset.position == report.position)
    #expect(reset.records == [text(1000)])
    #expect(try reader.next()?.records == [text(1001)])
    try log.close()
    let (again, records) = try replayed(options)
    #expect(records == [text(1000), text(1001)])
    #expect(again.status.epoch == 1)
    try again.reset()
    try again.reset()
    try again.append([text(7)])
    try again.close()
    #expect(try replayed(options).records == [text(7)])
  }

  @Test func `a kept copy and a backup are complete stores`() throws {
    let log = try Log.open(at: path)
    for value in 0..<20 { try log.append([text(value)]) }
    let backup = directory.path + "/backup"
    #expect(try log.backup(to: backup).position == log.status.durable)
    #expect(throws: LogError.targetExists(path: backup)) { try log.backup(to: backup) }
    let kept = try #require(try log.reset(keepCopy: true).keptCopy)
    try log.append([text(99)])
    try log.close()
    for copy in [backup, kept] {
      let opened = try Log.open(at: copy)
      #expect(opened.openReport.commitCount == 20)
      #expect(opened.openReport.wasClosedCleanly)
      try opened.append([text(20)])
      try opened.close()
      let reader = try Log.open(at: copy).read()
      for value in 0...20 { #expect(try reader.next()?.records == [text(value)]) }
    }
    #expect(try replayed().records == [text(99)])
  }

  @Test func `only one opener writes and readers are let through`() throws {
    let log = try Log.open(at: path)
    try log.append([text(1)])
    #expect(throws: LogError.self) { try Log.open(at: path) }
    do {
      _ = try Log.open(at: path)
    } catch LogError.locked(_, let owner) {
      #expect(owner != nil)
    }
    var options = LogOptions()
    options.access = .readOnly
    let (reader, records) = try replayed(options)
    #expect(records == [text(1)])
    #expect(throws: LogError.readOnly) { try reader.append([text(2)]) }
    try log.close()
    #expect(throws: LogError.closed) { try log.append([text(2)]) }
    try Log.open(at: path).close()
  }

  @Test func `async commits and a tail see each other`() async throws {
    let log = try Log.open(at: path)
    let reading = Task {
      var seen: [UInt64] = []
      for try await commit in log.commits() {
        seen.append(commit.position.sequence.rawValue)
        if seen.count == 200 { break }
      }
      return seen
    }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for value in 0..<25 { _ = try? await log.append([Array("\(task) \(value)".utf8)]) }
        }
      }
    }
    #expect(try await reading.value == Array(1...200))
    try await log.close()
  }

  @Test func `a sync writes no commit of its own`() throws {
    let log = try Log.open(at: path)
    let position = try log.append([text(1)])
    try log.sync()
    #expect(log.status.last == position)
    try log.append([text(2)], durability: .buffered)
    try log.sync()
    #expect(log.status.last.sequence == SequenceNumber(2))
    try log.close()
    #expect(try replayed().records == [text(1), text(2)])
  }

  @Test func `buffered commits reach readers once they are synced`() throws {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.bufferedSyncInterval = .seconds(3600)
    let log = try Log.open(at: path, options: options)
    try log.append([text(1)], durability: .buffered)
    let reader = try log.read()
    #expect(try reader.next() == nil)
    #expect(log.status.bufferedCommitCount == 1)
    try log.sync()
    #expect(log.status.bufferedCommitCount == 0)
    #expect(try reader.next()?.records == [text(1)])
  }

  @Test(arguments: [(zeros: 8192, other: 0), (zeros: 4096, other: 1)])
  func `zeros behind a closed segment are given back and other bytes are damage`(tail: (zeros: Int, other: Int)) throws
  {
    var options = LogOptions()
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    let log = try Log.open(at: path, options: options)
    for value in 0..<60 { try log.append([text(value, repeating: 20)]) }
    try log.close()
    let fileSystem = PosixFileSystem()
    let first = try #require(StoreListing(try fileSystem.list(path)).segments.first)
    let segment = "\(path)/\(first)"
    let byteCount = try fileSystem.status(at: segment).byteCount
    let file = try fileSystem.open(segment, .readWrite)
    let bytes = [UInt8](repeating: 0, count: tail.zeros) + [UInt8](repeating: 7, count: tail.other)
    _ = try bytes.withUnsafeBytes { try fileSystem.write(file, $0, at: byteCount) }
    try fileSystem.close(file)
    if tail.other == 0 {
      #expect(try replayed(options).records.count == 60)
      #expect(try fileSystem.status(at: segment).byteCount == byteCount)
    } else {
      #expect(throws: LogError.self) { try replayed(options) }
      #expect(try fileSystem.status(at: segment).byteCount == byteCount + Int64(bytes.count))
    }
  }

  @Test func `aligned commits begin each sync on a block of their own`() throws {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.alignsCommits = true
    let log = try Log.open(at: path, options: options)
    for value in 0..<30 { try log.append([text(value, repeating: value * 20 + 1)]) }
    try log.reset(carrying: [text(100)])
    for value in 0..<5 { try log.append([text(value)]) }
    let reader = try log.read()
    var places: [UInt64] = []
    while let commit = try reader.next() { places.append(commit.lsn.rawValue) }
    #expect(places.count == 6)
    #expect(places.allSatisfy { $0 % 4096 == 0 })
    try log.close()
    #expect(try replayed(options).records == [text(100)] + (0..<5).map { text($0) })
  }
}
