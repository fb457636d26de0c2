import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

/// The Swift code of README, Docs and the documentation catalog, compiled against what everybody may use, and run.
///
/// A region between `// example` and `// end` stands in a document word for word; ``DocumentationTests`` compares.
struct LogExamples {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  // example
  func recordVisit(of name: String, in path: String) throws -> [String] {
    var names: [String] = []
    let log = try Log.open(at: path) { batch in  // every live commit, in order, before open returns
      for frame in batch.frames {
        for record in batch.records(of: frame) { names.append(String(decoding: record, as: UTF8.self)) }
      }
    }
    try log.append([Array(name.utf8), Array("and a guest".utf8)])  // one commit: durable on return, both or neither
    try log.close()
    return names
  }
  // end

  @Test func `the README's example runs`() throws {
    #expect(try recordVisit(of: "Ada", in: path) == [])
    #expect(try recordVisit(of: "Grace", in: path) == ["Ada", "and a guest"])
  }

  @Test func `the first page's example runs`() throws {
    var state: [[UInt8]] = []
    func run(_ path: String) throws {
      // example
      let log = try Log.open(at: path) { batch in
        for frame in batch.frames {
          if frame.kind == .reset { state.removeAll() }
          for record in batch.records(of: frame) { state.append(Array(record)) }
        }
      }
      try log.append([Array("an order".utf8), Array("its payment".utf8)])
      try log.close()
      // end
    }
    try run(path)
    try run(path)
    #expect(state.map { String(decoding: $0, as: UTF8.self) } == ["an order", "its payment"])
  }

  // example
  func totals(of path: String) throws -> (totals: [String: Int], report: OpenReport) {
    var totals: [String: Int] = [:]
    var options = LogOptions()
    options.access = .readOnly
    let log = try Log.open(at: path, options: options) { batch in
      for frame in batch.frames {
        if frame.kind == .reset { totals = [:] }
        for record in batch.records(of: frame) { totals[String(decoding: record, as: UTF8.self), default: 0] += 1 }
      }
    }
    return (totals, log.openReport)
  }
  // end

  // example
  func appendOrder(_ lines: [[UInt8]], to log: Log) throws -> SequenceNumber {
    var draft = log.draft()
    for line in lines { try draft.append(line) }
    return try log.append(draft).sequence
  }
  // end

  // example
  func beginAnew(_ log: Log, keeping settings: [UInt8]) throws -> String? {
    let report = try log.reset(carrying: [settings], keepCopy: true)
    return report.keptCopy
  }
  // end

  // example
  func backUp(_ log: Log, to path: String) throws -> Position {
    try log.backup(to: path).position
  }
  // end

  // example
  func appendOrExplain(_ record: [UInt8], to log: Log) -> String? {
    do throws(LogError) {
      try log.append([record])
      return nil
    } catch {
      switch error {
      case .outOfSpace: return "nothing was written; free some space and try again"
      case .poisoned: return "the outcome is unknown; close the log and open it again"
      case .limitExceeded(let limit): return "\(limit.name.rawValue): at most \(limit.maximum)"
      default: return error.description
      }
    }
  }
  // end

  @Test func `drafts, totals, a reset, copies and errors go together as shown`() throws {
    let log = try Log.open(at: path)
    #expect(try appendOrder([[97], [98], [97]], to: log) == SequenceNumber(1))
    #expect(try backUp(log, to: path + ".backup") == log.status.durable)
    let kept = try #require(try beginAnew(log, keeping: [99]))
    #expect(appendOrExplain([100], to: log) == nil)
    let tooLarge = appendOrExplain([UInt8](repeating: 0, count: 17 << 20), to: log)
    #expect(tooLarge == "recordByteCount: at most 16777216")
    try log.close()
    #expect(appendOrExplain([100], to: log) == LogError.closed.description)
    #expect(try totals(of: path).totals == ["c": 1, "d": 1])
    for copy in [path + ".backup", kept] {
      let (counts, report) = try totals(of: copy)
      #expect(counts == ["a": 2, "b": 1])
      #expect(report.cut == nil && report.damage == nil)
    }
  }

  // example
  func appendAll(_ records: [[UInt8]], to log: Log) async throws {
    try await withThrowingTaskGroup { group in
      for record in records { group.addTask { try await log.append([record]) } }
      try await group.waitForAll()
    }
  }
  // end

  // example
  func follow(_ log: Log, from position: Position?, until last: SequenceNumber) async throws -> [Commit] {
    var seen: [Commit] = []
    for try await commit in log.commits(after: position) {
      seen.append(commit)
      if commit.position.sequence >= last { break }
    }
    return seen
  }
  // end

  @Test func `tasks append and follow as shown`() async throws {
    let log = try Log.open(at: path)
    async let followed = follow(log, from: .start, until: SequenceNumber(20))
    try await appendAll((0..<20).map { [UInt8($0)] }, to: log)
    let records = try await followed.flatMap(\.records)
    #expect(records.sorted { $0[0] < $1[0] } == (0..<20).map { [UInt8($0)] })
    try await log.close()
  }
}
