/// What a figure says: its unit, and behind a dot what of it where one run has several.
struct Metric: Hashable, Comparable, Sendable {
  let name: String

  init(_ name: String) { self.name = name }

  static let rowsPerSecond = Metric("rows_per_second")
  static let commitsPerSecond = Metric("commits_per_second")
  static let operationsPerSecond = Metric("operations_per_second")
  static let seconds = Metric("seconds")
  static let bytes = Metric("bytes")
  /// Speed against the reference of the bench, pair by pair: 1 is equal, more is faster.
  static let ratio = Metric("ratio")

  /// Latencies of single operations.
  static let p50 = Metric("seconds.p50")
  static let p90 = Metric("seconds.p90")
  static let p99 = Metric("seconds.p99")
  static let p999 = Metric("seconds.p99_9")
  static let longest = Metric("seconds.max")
  static let peakResident = Metric("bytes.peakResident")
  /// Of the process, mapped files and libraries too, once the store is open and nothing was read.
  static let residentOpened = Metric("bytes.residentOpened")
  /// Of that what no file stands behind.
  static let anonymousOpened = Metric("bytes.anonymousOpened")
  static let onDisk = Metric("bytes.onDisk")
  static let onDiskBefore = Metric("bytes.onDiskBefore")
  static let onDiskAfterCompaction = Metric("bytes.onDiskAfterCompaction")
  /// The subject's own speed against its one-thread run in the same turn.
  static let speedUp = Metric("ratio.speedUp")
  /// What reading, XXH3, LZ4 and inserting take by themselves, against what the whole took.
  static let ofParts = Metric("ratio.ofParts")
  /// The same with the first touch of the memory that rows and table live in.
  static let ofPartsAndMemory = Metric("ratio.ofPartsAndMemory")
  /// The size of the store's directory against the bytes of the rows in it.
  static let ofRaw = Metric("ratio.ofRaw")
  /// Bytes that the process gave to the device for each byte of keys and values that it was asked to write.
  static let written = Metric("ratio.written")
  /// Speed of ours against the fastest durable peer in the same turn.
  static let ofBestPeer = Metric("ratio.ofBestPeer")
  /// What a bench does beside its work: a writer's commits beside reads, updates before a compaction.
  static let commitsBeside = Metric("commits_per_second.beside")
  static let updates = Metric("rows_per_second.updates")
  /// Commits while nothing else is done, before the work begins.
  static let p50Idle = Metric("seconds.p50Idle")
  static let p99Idle = Metric("seconds.p99Idle")
  /// The slow commit of one in a hundred, against the same while nothing else is done.
  static let p99OfIdle = Metric("ratio.p99OfIdle")
  static let compaction = Metric("seconds.compaction")
  static let spaceGivenBack = Metric("seconds.spaceGivenBack")

  /// For how long local writes had to wait.
  static let writersBlocked = Metric("seconds.writersBlocked")
  /// What the process gave to the device.
  static let bytesWritten = Metric("bytes.written")
  /// Of a body, for each row in it.
  static let bodyPerRow = Metric("bytes.bodyPerRow")
  /// What an idle connection keeps in the server's memory.
  static let perConnection = Metric("bytes.perConnection")

  enum Unit: Sendable { case perSecond, seconds, bytes, ratio }

  var unit: Unit {
    switch name.prefix(while: { $0 != "." }) {
    case "seconds": .seconds
    case "bytes": .bytes
    case "ratio": .ratio
    default: .perSecond
    }
  }

  /// A speed, or a ratio of speeds.
  var isRate: Bool { unit == .perSecond || unit == .ratio }

  var moreIsBetter: Bool { isRate && ![Self.ofRaw, .written, .p99OfIdle].contains(self) }

  /// Whether `value` is as good as `goal` or better.
  func reaches(_ goal: Double, _ value: Double) -> Bool { moreIsBetter ? value >= goal : value <= goal }

  static func < (left: Metric, right: Metric) -> Bool { left.name < right.name }
}
