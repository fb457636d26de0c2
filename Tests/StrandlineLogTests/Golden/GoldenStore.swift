import Glibc
import StrandlineTestSupport

@testable @_spi(Engine) import StrandlineLog

/// Stores that a released version wrote. `Tests/Fixtures/v1` holds them; they are added to and never made again.
enum GoldenStore: String, CaseIterable {
  /// Closed in order, raw frames.
  case closed
  /// Left without a close after the last sync.
  case killed
  /// Half a frame behind the last one that was synced.
  case torn
  /// Many small segments.
  case segments
  /// LZ4 frames, and commits of many frames.
  case compressed
  /// A reset that carried records, more behind it, and buffered commits in between.
  case reset
  /// Nothing was ever appended.
  case empty

  static let options: LogOptions = {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.segmentByteCountMax = 4 << 10
    options.spaceAheadByteCount = 64 << 10
    return options
  }()

  /// Makes the store at `path`: the same bytes each time where LZ4 has no part in them.
  func make(at path: String) throws {
    var options = Self.options
    if self == .compressed { options.segmentByteCountMax = 64 << 20 }
    let bits = SeededBits(seed: 1)
    let clock = ManualClock(wallMilliseconds: 1_764_000_000_000)
    options.environment = Environment(clock: clock, randomBits: { bits.next() })
    let log = try Log.open(at: path, options: options)
    func append(_ range: Range<Int>, durability: Durability = .synced) throws {
      for value in range {
        let records = (0...value % 3).map { Array("record \(value).\($0) of \(rawValue)".utf8) }
        try log.append(records, durability: durability)
      }
    }
    switch self {
    case .closed:
      try append(0..<20)
      try log.close()
    case .killed:
      try append(0..<20)
    case .torn:
      try append(0..<20)
      let tail = log.status.lastOrdinal
      let names = StoreListing(try PosixFileSystem().list(path)).segments
      guard let name = names.first(where: { $0.ordinal == tail }) else { return }
      let end = Int64(
        log.core.published.withLock { $0.durableLSN.rawValue - ($0.segments.last?.baseLSN.rawValue ?? 0) })
      let file = try PosixFileSystem().open("\(path)/\(name)", .readWrite)
      let half: [UInt8] = [0xF5, 0x0D, 0x0A, 0x1A, 1, 0, 0, 0, 200, 0, 0, 0, 200, 0, 0, 0, 21]
      try half.withUnsafeBytes { try PosixFileSystem().writeAll(file, $0, at: end) }
      try PosixFileSystem().close(file)
    case .segments:
      try append(0..<200)
      try log.close()
    case .compressed:
      var generator = SeededGenerator(seed: 2)
      let text = Array(String(repeating: "the tide leaves a line on the beach; ", count: 3000).utf8)
      try log.append([Array(text.prefix(5000))])
      try log.append((0..<6).map { _ in text })
      try log.append([generator.bytes(9000), [], text])
      try log.close()
    case .reset:
      try append(0..<10)
      try append(10..<15, durability: .buffered)
      try log.reset(carrying: [Array("carried".utf8)], cause: 7)
      try append(20..<30)
      try log.close()
    case .empty:
      try log.close()
    }
  }

  /// The directory of the fixtures of format version 1.
  static let directory =
    String(#filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 }) + "/Fixtures/v1"

  /// What `expected.txt` says of the store.
  struct Expected {
    var stateHash: String
    var commitCount: Int
    var epoch: UInt64
    var isCut: Bool
  }

  static func expected() throws -> [String: Expected] {
    let file = try PosixFileSystem().open("\(directory)/expected.txt", .read)
    let bytes = try PosixFileSystem().readBytes(file, at: 0, byteCount: 1 << 16)
    try PosixFileSystem().close(file)
    var found: [String: Expected] = [:]
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      let fields = line.split(separator: " ")
      guard fields.count == 5, let commits = Int(fields[2]), let epoch = UInt64(fields[3]) else { continue }
      found[String(fields[0])] = Expected(
        stateHash: String(fields[1]), commitCount: commits, epoch: epoch, isCut: fields[4] == "cut")
    }
    return found
  }
}
