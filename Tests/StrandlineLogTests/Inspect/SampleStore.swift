import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// A small store with every kind of frame, made by the engine on a simulated disk, and what is in it.
struct SampleStore: Sendable, CustomTestStringConvertible {
  static let path = "/store"

  let name: String
  let image: DiskImage
  /// The same store a few commits earlier.
  let older: DiskImage
  /// Every commit in the files, in log order, those in front of a RESET included.
  let commits: [SampleCommit]
  /// Epoch in force.
  let epoch: UInt64
  /// Replay begins behind this commit.
  let anchorSequence: UInt64
  /// Who says, in the last segment and in META, how far a sync had covered the log.
  let promises: [SamplePromise]

  var testDescription: String { name }

  /// Behind the farthest position that anything in `image` still says a sync had covered. Zeroing or cutting a segment takes the
  /// promises in it away with the commits; nothing can tell then.
  func promise(in image: DiskImage) -> LSN {
    var promise = LSN.zero
    for statement in promises {
      guard let bytes = image.bytes(of: statement.file), bytes.count >= statement.range.upperBound,
        bytes[statement.range].elementsEqual(statement.bytes)
      else { continue }
      promise = max(promise, statement.lsn)
    }
    return promise
  }

  /// What a replay hands over: the live commits.
  var live: [SampleCommit] { commits.filter { $0.epoch == epoch } }
}

/// Bytes of a sample store that state a promise, as long as they are whole and in their place.
struct SamplePromise: Sendable {
  var file: String
  var range: Range<Int>
  var bytes: [UInt8]
  var lsn: LSN
}

/// One commit of a sample store: where it lies and what is in it.
struct SampleCommit: Hashable, Sendable {
  var sequence: UInt64
  var epoch: UInt64
  var isReset: Bool
  var isGap: Bool
  var records: [[UInt8]]
  /// Path of its segment.
  var file: String
  /// Bytes of its frames in the file.
  var range: Range<Int>
  var endLSN: LSN
}

extension SampleStore {
  /// How a store came to rest.
  enum End: String, Sendable, CaseIterable {
    case closed, killed
  }

  static let all: [SampleStore] = End.allCases.flatMap { [history($0), reset($0), layered($0)] }

  /// Each store has an identity of its own.
  private enum Seed {
    static let history: UInt64 = 100
    static let reset: UInt64 = 200
    static let layered: UInt64 = 300
  }

  static func environment(_ disk: any FileSystem, seed: UInt64) -> Environment {
    let random = SharedGenerator(seed: seed)
    return Environment(fileSystem: disk, clock: ManualClock(), randomBits: { random.next() })
  }

  static func options(_ disk: any FileSystem, seed: UInt64 = 1) -> LogOptions {
    var options = LogOptions()
    options.helpers = .callerRuns
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    options.replayThreadCount = 1
    options.environment = environment(disk, seed: seed)
    return options
  }

  /// Four segments; raw, compressed, many-frame and empty records; a GAP, because the store was salvaged once.
  static func history(_ end: End) -> SampleStore {
    make("history, \(end.rawValue)", end) { disk in
      let old = try Log.open(at: "/old", options: options(disk, seed: Seed.history))
      for value in 0..<6 { try old.append([text(value, count: 4)]) }
      try old.close()
      disk.edit { image in
        let file = image.files(below: "/old").first { $0.contains("seg-") }!
        image.flip(file, byte: 4096 + 64 + 8, bit: 3)
      }
      try Salvage.run(from: "/old", to: path, environment: environment(disk, seed: Seed.history + 1))
      let log = try Log.open(at: path, options: options(disk, seed: Seed.history + 2))
      try fill(log)
      return log
    }
  }

  /// A RESET between commits of one segment.
  static func reset(_ end: End) -> SampleStore {
    make("reset, \(end.rawValue)", end) { disk in
      let log = try Log.open(at: path, options: options(disk, seed: Seed.reset))
      for value in 0..<3 { try log.append([text(value, count: 5), text(value + 100)]) }
      try log.reset(carrying: [text(1), text(2)])
      try fill(log)
      return log
    }
  }

  /// A root with a layer and an anchor in the second segment; the first was released.
  static func layered(_ end: End) -> SampleStore {
    make("layered, \(end.rawValue)", end) { disk in
      let log = try Log.open(at: path, options: options(disk, seed: Seed.layered))
      try fill(log)
      let anchor = try log.append([text(500)])
      let layer = LayerEntry(
        id: 77, level: 0, firstSequence: SequenceNumber(1), lastSequence: anchor.sequence, byteCount: 700,
        footerTag: 1, salt: 2)
      let file = try disk.open("\(path)/\(layer.fileName)", .create)
      try disk.put(file, SeededGenerator.bytes(700, seed: 3), at: 0)
      try disk.sync(file)
      try disk.close(file)
      try disk.syncDirectory(path)
      try log.publishRoot(layers: [layer], anchor: anchor, epoch: 0)
      try log.releaseSegments(before: SequenceNumber(10))
      for value in 0..<3 { try log.append([text(value, count: 3)]) }
      return log
    }
  }

  private static func fill(_ log: Log) throws {
    for value in 0..<4 { try log.append([text(value, count: value), [], text(value + 50)]) }
    // One frame, compressed.
    try log.append([[UInt8](repeating: 65, count: 9000)])
    // Two frames, both compressed.
    try log.append([[UInt8](repeating: 66, count: 200_000), [UInt8](repeating: 67, count: 200_000)])
    for value in 10..<22 { try log.append([text(value, count: 40)]) }
  }

  static func text(_ value: Int, count: Int = 1) -> [UInt8] {
    Array(String(repeating: "record \(value);", count: count).utf8)
  }

  private static func make(_ name: String, _ end: End, _ build: (SimulatedDisk) throws -> Log) -> SampleStore {
    do {
      let disk = SimulatedDisk()
      let log = try build(disk)
      let older = disk.image
      for value in 600..<603 { try log.append([text(value, count: 2)]) }
      if end == .closed { try log.close() }
      // Not closed: descriptors and lock are let go of with the disk.
      return try SampleStore(name, disk.image, older: older)
    } catch {
      preconditionFailure("\(name): \(error)")
    }
  }

  /// Takes stock of an undamaged image, with walks of the engine's own.
  private static func promises(
    in image: DiskImage, _ survey: StoreSurvey, _ disk: SimulatedDisk
  ) throws -> [SamplePromise] {
    var promises: [SamplePromise] = []
    for slot in survey.root.slots {
      guard let root = slot.root else { continue }
      let range = slot.number * RootSlot.byteCount..<(slot.number + 1) * RootSlot.byteCount
      let bytes = Array(try #require(image.bytes(of: survey.root.path))[range])
      promises.append(
        SamplePromise(file: survey.root.path, range: range, bytes: bytes, lsn: max(root.durableMark, root.anchor.lsn)))
    }
    let active = try #require(survey.active)
    let bytes = try #require(image.bytes(of: active.path))
    let file = try SegmentFile(inspecting: active.path, header: try #require(active.header), in: disk)
    var walk = FrameWalk(
      file, from: ChainState(startOf: file.header), end: Int64(bytes.count), searchesBits: false)
    while let step = try walk.next() {
      guard case .frame(let frame, _) = step else { continue }
      let range = Int(frame.offset)..<Int(frame.offset) + FrameHeader.byteCount
      promises.append(
        SamplePromise(file: active.path, range: range, bytes: Array(bytes[range]), lsn: frame.header.durable))
    }
    return promises
  }

  private init(_ name: String, _ source: DiskImage, older: DiskImage) throws {
    var image = source
    // Less space ahead to look at, a hundred thousand times.
    for file in image.files(below: Self.path) where file.hasSuffix(".log") {
      image.edit(file) { bytes in
        let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        if bytes.count > used + 2048 { bytes.removeLast(bytes.count - (used + 2048) / 8 * 8) }
      }
    }
    for path in image.names(in: "/") where "/\(path)" != Self.path { image.remove("/\(path)") }
    let disk = SimulatedDisk(image)
    let inspector = try StoreInspector(path: Self.path, environment: Self.environment(disk, seed: 0))
    let survey = try inspector.survey()
    var commits: [SampleCommit] = []
    for segment in survey.live {
      let file = try SegmentFile(inspecting: segment.path, header: try #require(segment.header), in: disk)
      let end = try file.byteCount()
      var walk = CommitWalk(FrameWalk(file, from: ChainState(startOf: file.header), end: end, searchesBits: false))
      var reader = CommitReader(file, end: end)
      while let step = try walk.next() {
        guard case .commit(let commit) = step else { continue }
        try #require(commit.state == .whole)
        var records: [[UInt8]] = []
        try reader.readRecords(commit) { list in for record in list { records.append(Array(record)) } }
        var isReset = false
        var isGap = false
        switch commit.content {
        case .reset: isReset = true
        case .gap: isGap = true
        default: break
        }
        commits.append(
          SampleCommit(
            sequence: commit.sequence.rawValue, epoch: commit.epoch, isReset: isReset, isGap: isGap, records: records,
            file: segment.path, range: Int(commit.offset)..<Int(commit.endOffset), endLSN: commit.endLSN))
      }
    }
    let tail = try #require(try survey.examineTail())
    self.name = name
    self.image = image
    self.older = older
    self.commits = commits
    epoch = tail.evidence.state.epoch
    promises = try Self.promises(in: image, survey, disk)
    let root = try #require(survey.root.root)
    anchorSequence = root.layers.isEmpty ? 0 : root.anchor.sequence.rawValue
  }
}

extension SeededGenerator {
  static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return generator.bytes(count)
  }
}

/// A seeded generator that several threads may ask.
private final class SharedGenerator: Sendable {
  private let generator: Lock<SeededGenerator>

  init(seed: UInt64) { generator = Lock(SeededGenerator(seed: seed)) }

  func next() -> UInt64 { generator.withLock { $0.next() } }
}
