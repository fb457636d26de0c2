import Foundation
import Glibc
import StrandlineLog
import StrandlineTestSupport
import Synchronization
import Testing

@testable import strandline

/// `strandline log` beside a writer at work: what is being written is no finding, and what is shown is true.
struct BesideWriterTests {
  private static let roundCount = 8 * SoakScale.factor
  /// From here on records are small, so that a store that is written all the while stays one that can be read again and again.
  private static let byteCountMax = 4 << 20

  /// How long the next record is to be.
  private static func length(behind written: Int, _ number: Int, max: Int) -> Int {
    number &* 7919 % (written < byteCountMax ? max : 20)
  }

  /// Runs every looking command once and holds it to the rules.
  private static func look(at store: InspectedStore, _ context: String) throws {
    for words in InspectedStore.lookers where words[0] != "diff" && words[0] != "hexdump" {
      let run = store.log(words)
      #expect(run.code == .success, "\(context), \(words): \(run.out.suffix(500)) \(run.err)")
      #expect(run.err.isEmpty, "\(context), \(words): \(run.err)")
      #expect(!run.out.contains("torn") || words[0] == "tail", "\(context), \(words)")
      #expect(!run.out.contains("DAMAGED"), "\(context), \(words)")
      if words == ["events", "%"] {
        let numbers = run.lines.compactMap { Int($0.prefix { $0 != "\t" }) }
        #expect(
          numbers.count == run.lines.count && zip(numbers, numbers.dropFirst()).allSatisfy { $1 - $0 <= 1 },
          "\(context)")
        #expect(numbers.first ?? 1 == 1, "\(context)")
      }
    }
  }

  /// Feeds lines of all lengths to a running `log append` from a thread of its own until told to stop.
  private final class Feeder: Sendable {
    private let isStopped = Atomic<Bool>(false)
    private let isDone = Atomic<Bool>(false)

    init(_ descriptor: Int32) {
      Thread.detachNewThread { [self] in
        var (written, number) = (0, 0)
        while !isStopped.load(ordering: .acquiring) {
          number += 1
          let length = BesideWriterTests.length(behind: written, number, max: number % 8 == 0 ? 60_000 : 600)
          written += length
          var rest = ([UInt8](repeating: UInt8(ascii: "x"), count: length) + [0x0A])[...]
          while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
          }
          usleep(500)
        }
        isDone.store(true, ordering: .releasing)
      }
    }

    func stop() {
      isStopped.store(true, ordering: .releasing)
      while !isDone.load(ordering: .acquiring) { usleep(1000) }
    }
  }

  @Test(arguments: [["--batch", "1"], ["--batch", "20"], ["--batch", "3", "--durability", "buffered"]])
  func `a writer in another process is no finding for any command`(options: [String]) throws {
    signal(SIGPIPE, SIG_IGN)
    let store = try InspectedStore(commitCount: 2)
    var child = try ChildProcess(
      ToolRun.path, ["log", "append", store.path] + options, input: .pipe, output: .none)
    let feeder = Feeder(child.input)
    for round in 0..<Self.roundCount { try Self.look(at: store, "\(options), round \(round)") }
    feeder.stop()
    child.closeInput()
    #expect(child.wait() == .exited(0))
    try Self.look(at: store, "\(options), afterwards")
  }

  /// Runs `work` with a running number on a thread of its own, again and again, while `body` runs.
  private static func beside(_ work: @escaping @Sendable (Int) throws -> Void, _ body: () throws -> Void) throws {
    let isStopped = TestLock(false)
    let failure = TestLock<String?>("the thread did not end")
    Thread.detachNewThread {
      var number = 0
      do {
        while !isStopped.withLock({ $0 }) {
          try work(number)
          number += 1
        }
        failure.withLock { $0 = nil }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
    }
    defer { isStopped.withLock { $0 = true } }
    try body()
    isStopped.withLock { $0 = true }
    while failure.withLock({ $0 }) == "the thread did not end" { usleep(1000) }
    #expect(failure.withLock { $0 } == nil)
  }

  @Test func `a writer that comes and goes while one looks is no finding`() throws {
    let store = try InspectedStore(commitCount: 2)
    let path = store.path
    let work: @Sendable (Int) throws -> Void = { number in
      let log = try Log.open(at: path)
      for value in 0..<number % 4 {
        let length = Self.length(behind: number * 20_000, number + value, max: 40_000)
        try log.append([[UInt8](repeating: 120, count: length)])
      }
      // Some leave without an end, as a killed process does.
      if number % 5 != 0 { try log.close() }
      usleep(500)
    }
    try Self.beside(work) {
      for round in 0..<Self.roundCount { try Self.look(at: store, "round \(round)") }
    }
  }

  @Test func `segments that are closed and begun while one looks are no finding`() throws {
    let store = try InspectedStore(commitCount: 2)
    var options = LogOptions()
    options.segmentByteCountMax = 16 << 10
    options.spaceAheadByteCount = 64 << 10
    let log = try Log.open(at: store.path, options: options)
    let work: @Sendable (Int) throws -> Void = { number in
      try log.append([[UInt8](repeating: 120, count: Self.length(behind: number * 2000, number, max: 4000))])
      usleep(200)
    }
    try Self.beside(work) {
      for round in 0..<Self.roundCount { try Self.look(at: store, "round \(round)") }
    }
    try log.close()
    try Self.look(at: store, "afterwards")
  }

  @Test func `a tail that nobody writes is torn, also where it was left a moment ago`() throws {
    let store = try InspectedStore(commitCount: 3, closes: false)
    let file = try #require(try store.segments.last)
    let json = try #require(try parsedJSON(store.log("tail", "%", "--json").out) as? [String: Any])
    let end = try #require(json["commitEndOffset"] as? Int)
    try store.edit(file) { $0.replaceSubrange(end..<end + 10, with: [0xF5, 0x0D, 0x0A, 0x1A, 1, 0, 0, 0, 200, 0]) }
    let list = store.log("list", "%")
    #expect(list.code == .finding)
    #expect(
      list.out.contains("torn: 9 bytes that are no frame") || list.out.contains("torn: 10 bytes that are no frame"),
      "\(list.out)")
    #expect(list.out.contains("of space ahead from byte"), "\(list.out)")
    // The same bytes while somebody has the store open.
    let lock = open(store.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
    defer { close(lock) }
    let busy = store.log("list", "%")
    #expect(busy.code == .success)
    #expect(busy.out.contains(" in flight from byte \(end) on: a writer has the store open"), "\(busy.out)")
    #expect(!busy.out.contains("torn"), "\(busy.out)")
    let lines = try store.log("list", "%", "--jsonl").lines.map { try parsedJSON($0) as? [String: Any] }
    #expect(lines.last??["type"] as? String == "inFlight" && lines.last??["offset"] as? Int == end)
  }
}
