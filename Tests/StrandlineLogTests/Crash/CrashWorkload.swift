import StrandlineTestSupport

/// What a process does to a log, drawn from a seed.
struct CrashWorkload: Sendable {
  enum Operation: Sendable, CustomStringConvertible {
    case append([[UInt8]], synced: Bool)
    case sync
    case reset(carrying: [[UInt8]], keepsCopy: Bool, hasBase: Bool)
    case backup(to: String)
    /// Writes a layer, names it as the root, lets segments go.
    case compact
    /// Reads all that is synced and compares.
    case readBack
    case pause(Duration)
    /// The new process keeps this much space ahead; one that keeps less than the one before it gives some back when it closes.
    case closeAndReopen(spaceAhead: Int)
    /// Ends without close, as a process does that is killed between two calls.
    case abandonAndReopen

    var description: String {
      switch self {
      case .append(let records, let isSynced):
        "append \(isSynced ? "synced" : "buffered") \(records.map(\.count))"
      case .sync: "sync"
      case .reset(let records, let keepsCopy, let hasBase):
        "reset carrying \(records.count)\(keepsCopy ? " keeping a copy" : "")\(hasBase ? " onto a base" : "")"
      case .backup(let path): "backup to \(path)"
      case .compact: "compact"
      case .readBack: "read back"
      case .pause(let duration): "pause \(duration)"
      case .closeAndReopen(let byteCount): "close and reopen with \(byteCount) bytes ahead"
      case .abandonAndReopen: "abandon and reopen"
      }
    }
  }

  static let storePath = "/store"

  let seed: UInt64
  let operations: [Operation]
  /// One workload of three begins each sync on a fresh block.
  var alignsCommits: Bool { seed % 3 == 2 }

  /// Every kind of operation, in random order and number; the ones that cost much come once, where a reset soon frees them.
  static func long(seed: UInt64) -> CrashWorkload {
    var maker = Maker(seed: seed)
    for index in 0..<CrashScale.operationCount {
      switch index {
      case 40: maker.append(maker.compressible(2, byteCount: 700 << 10), synced: true)
      case 41: maker.append(maker.compressible(3, byteCount: 600 << 10), synced: false)
      case 44: maker.reset(keepsCopy: false, hasBase: false)
      case 70: maker.reset(keepsCopy: true, hasBase: false)
      case 90: maker.backup()
      case 110: maker.reset(keepsCopy: false, hasBase: true)
      case 111, 112: maker.reset(keepsCopy: false, hasBase: false)
      // A segment made with much space ahead, then closed by a process that keeps less.
      case 130: maker.closeAndReopen(spaceAhead: 128 << 10)
      case 131, 132: maker.append([maker.random(6_000)], synced: false)
      case 133: maker.closeAndReopen()
      case 134: maker.append([maker.random(10)], synced: false)
      case 135: maker.closeAndReopen()
      case 150: maker.append([maker.random(5_000), maker.random(700_000), maker.random(600_000)], synced: false)
      case 152: maker.reset(keepsCopy: false, hasBase: false)
      case 180: maker.compact()
      default: maker.any()
      }
    }
    return CrashWorkload(seed: seed, operations: maker.operations)
  }

  /// One of everything, in a few calls: for tests that run it thousands of times.
  static func short(seed: UInt64) -> CrashWorkload {
    var maker = Maker(seed: seed)
    maker.append([maker.random(40)], synced: true)
    maker.append([maker.random(90), []], synced: false)
    maker.append(maker.compressible(1, byteCount: 6_000), synced: true)
    maker.closeAndReopen(spaceAhead: 128 << 10)
    maker.append([maker.random(8_000)], synced: false)
    maker.closeAndReopen()
    maker.append([maker.random(20)], synced: false)
    maker.closeAndReopen()
    maker.append([maker.random(3_000)], synced: false)
    maker.operations.append(.sync)
    maker.append([maker.random(4_500)], synced: true)
    maker.compact()
    maker.append([maker.random(30)], synced: false)
    maker.operations.append(.pause(.seconds(2)))
    maker.append([maker.random(4_000)], synced: true)
    maker.backup()
    maker.append([maker.random(4_000)], synced: false)
    maker.reset(keepsCopy: true, hasBase: false)
    maker.append([maker.random(200)], synced: true)
    maker.append([maker.random(4_000)], synced: false)
    maker.operations.append(.abandonAndReopen)
    maker.append([maker.random(5_000)], synced: false)
    maker.reset(keepsCopy: false, hasBase: true)
    maker.append([maker.random(10)], synced: false)
    maker.operations.append(.readBack)
    maker.append([maker.random(10)], synced: true)
    maker.closeAndReopen()
    return CrashWorkload(seed: seed, operations: maker.operations)
  }

  private struct Maker {
    var generator: SeededGenerator
    var operations: [Operation] = []
    private var backupCount = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func random(_ byteCount: Int) -> [UInt8] { generator.bytes(byteCount) }

    /// Records that LZ4 makes a hundredth of.
    mutating func compressible(_ count: Int, byteCount: Int) -> [[UInt8]] {
      (0..<count).map { _ in
        let phrase = generator.bytes(200)
        return Array(repeatElement(phrase, count: byteCount / 200 + 1).joined().prefix(byteCount))
      }
    }

    mutating func append(_ records: [[UInt8]], synced: Bool) { operations.append(.append(records, synced: synced)) }

    mutating func reset(keepsCopy: Bool, hasBase: Bool) {
      let records = (0..<Int.random(in: 0...2, using: &generator)).map { _ in random(20) }
      operations.append(.reset(carrying: records, keepsCopy: keepsCopy, hasBase: hasBase))
    }

    mutating func backup() {
      operations.append(.backup(to: "/backup-\(backupCount)"))
      backupCount += 1
    }

    mutating func closeAndReopen(spaceAhead: Int = 64 << 10) {
      operations.append(.closeAndReopen(spaceAhead: spaceAhead))
    }

    mutating func compact() { operations.append(.compact) }

    mutating func any() {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<42: append(smallRecords(), synced: true)
      case 42..<70: append(smallRecords(), synced: false)
      case 70..<73: append(compressible(1, byteCount: 5_000 + backupCount), synced: true)
      case 73..<76: append([random(6_000)], synced: false)
      case 76..<81: operations.append(.sync)
      case 81..<83: operations.append(.readBack)
      case 83..<86: closeAndReopen()
      case 86..<90: operations.append(.abandonAndReopen)
      case 90..<94: operations.append(.pause(.milliseconds(Int.random(in: 1..<2_000, using: &generator))))
      case 94..<95: backup()
      case 95..<97: reset(keepsCopy: Bool.random(using: &generator), hasBase: Bool.random(using: &generator))
      default: compact()
      }
    }

    private mutating func smallRecords() -> [[UInt8]] {
      (0..<Int.random(in: 1...5, using: &generator)).map { _ in
        random(Int.random(in: 0...150, using: &generator))
      }
    }
  }
}
