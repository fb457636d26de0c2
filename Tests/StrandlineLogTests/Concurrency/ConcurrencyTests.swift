import StrandlineTestSupport
import Synchronization
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Everything at once on the machine's own disk, for the thread sanitizer and against what each caller was told.
struct ConcurrencyTests {
  private let directory = TemporaryDirectory()

  private struct Told: Sendable {
    var position: Position
    var record: [UInt8]
  }

  /// What all threads were told, under a lock the sanitizer knows.
  private final class Ledger: Sendable {
    private let lines = Lock<[Told]>([])
    func note(_ told: Told) { lines.withLock { $0.append(told) } }
    var all: [Told] { lines.withLock { $0 } }
  }

  private func smallSegments() -> LogOptions {
    var options = LogOptions()
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    options.idleMarkInterval = .milliseconds(10)
    options.bufferedSyncInterval = .milliseconds(3)
    return options
  }

  @Test func `each commit is wholly before or wholly after each reset, whoever races`() throws {
    let path = directory.path + "/store"
    let log = try Log.open(at: path, options: smallSegments())
    let ledger = Ledger()
    let finished = Atomic<Int>(0)
    let directoryPath = directory.path
    withThreads(12) { index in
      switch index {
      case 0..<8:
        for value in 0..<150 {
          let record = Array("\(index)/\(value)/\(String(repeating: "x", count: value % 90))".utf8)
          do {
            let position = try log.append([record], durability: value % 3 == 0 ? .buffered : .synced)
            ledger.note(Told(position: position, record: record))
          } catch {
            Issue.record("append: \(error)")
          }
        }
        finished.add(1, ordering: .sequentiallyConsistent)
      case 8:
        while finished.load(ordering: .sequentiallyConsistent) < 8 {
          do {
            let report = try log.reset(carrying: [Array("carried".utf8)])
            ledger.note(Told(position: report.position, record: Array("carried".utf8)))
          } catch {
            Issue.record("reset: \(error)")
          }
        }
      case 9:
        var count = 0
        while finished.load(ordering: .sequentiallyConsistent) < 8 {
          count += 1
          do {
            let copy = "\(directoryPath)/backup-\(count)"
            let report = try log.backup(to: copy)
            let opened = try Log.open(at: copy)
            if opened.status.last != report.position { Issue.record("backup \(count) ends elsewhere") }
            try opened.close()
          } catch {
            Issue.record("backup: \(error)")
          }
        }
      default:
        while finished.load(ordering: .sequentiallyConsistent) < 8 {
          do {
            let reader = try log.read()
            var last = SequenceNumber.zero
            while let commit = try reader.next() {
              if commit.position.sequence <= last { Issue.record("commits out of order") }
              last = commit.position.sequence
            }
          } catch LogError.resetSince {
            continue
          } catch {
            Issue.record("read: \(error)")
          }
        }
      }
    }
    try log.sync()
    let epoch = log.status.epoch
    try log.close()
    var live: [SequenceNumber: [UInt8]] = [:]
    let again = try Log.open(at: path) { batch in
      for frame in batch.frames {
        if frame.kind == .reset { live = [:] }
        for record in batch.records(of: frame) { live[frame.sequence] = Array(record) }
      }
    }
    let told = ledger.all
    let expected = told.filter { $0.position.epoch == epoch }
    #expect(again.status.epoch == epoch)
    #expect(live.count == expected.count)
    for line in expected { #expect(live[line.position.sequence] == line.record) }
    #expect(Set(told.map(\.position.sequence)).count == told.count, "no number was given twice")
    try again.close()
  }

  @Test func `closing while others write answers each of them the truth`() throws {
    for round in 0..<8 {
      let path = "\(directory.path)/store-\(round)"
      let log = try Log.open(at: path, options: smallSegments())
      let ledger = Ledger()
      withThreads(5) { index in
        if index == 4 {
          while ledger.all.count < 20 + round * 5 {}
          do { try log.close() } catch { Issue.record("close: \(error)") }
          return
        }
        for value in 0... {
          let record = Array("\(index)/\(value)".utf8)
          do {
            ledger.note(Told(position: try log.append([record]), record: record))
          } catch LogError.closed {
            return
          } catch {
            Issue.record("append: \(error)")
            return
          }
        }
      }
      var records: Set<[UInt8]> = []
      let again = try Log.open(at: path) { batch in
        for frame in batch.frames { for record in batch.records(of: frame) { records.insert(Array(record)) } }
      }
      #expect(again.openReport.wasClosedCleanly)
      #expect(records == Set(ledger.all.map(\.record)))
    }
  }

  @Test func `many async writers and tails on few threads make progress and agree`() async throws {
    let log = try Log.open(at: directory.path + "/store", options: smallSegments())
    let total = 64 * 20
    async let first = Self.sequences(of: log, count: total)
    async let second = Self.sequences(of: log, count: total)
    try await withThrowingTaskGroup { group in
      for task in 0..<64 {
        group.addTask {
          for value in 0..<20 {
            try await log.append([Array("\(task)/\(value)".utf8)], durability: value % 2 == 0 ? .synced : .buffered)
          }
        }
      }
      try await group.waitForAll()
    }
    try await log.sync()
    let seen = try await (first, second)
    #expect(seen.0 == Array(1...UInt64(total)))
    #expect(seen.1 == seen.0)
    try await log.close()
  }

  private static func sequences(of log: Log, count: Int) async throws -> [UInt64] {
    var seen: [UInt64] = []
    for try await commit in log.commits() {
      seen.append(commit.position.sequence.rawValue)
      if seen.count == count { break }
    }
    return seen
  }

  @Test func `a cancelled tail ends and a cancelled append writes nothing`() async throws {
    let log = try Log.open(at: directory.path + "/store")
    let tail = Task {
      for try await _ in log.commits() {}
      return true
    }
    let append = Task {
      while !Task.isCancelled { await Task.yield() }
      try await log.append([[1]])
    }
    tail.cancel()
    append.cancel()
    #expect(try await tail.value)
    await #expect(throws: CancellationError.self) { try await append.value }
    #expect(log.status.last == .start)
    try await log.close()
  }
}
