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
  static let longest = Metric("seconds.max")
  static let peakResident = Metric("bytes.peakResident")
  static let onDisk = Metric("bytes.onDisk")
  /// The subject's own speed against its one-thread run in the same turn.
  static let speedUp = Metric("ratio.speedUp")
  /// What reading, XXH3, LZ4 and inserting take by themselves, against what the whole took.
  static let ofParts = Metric("ratio.ofParts")
  /// The same with the first touch of the memory that rows and table live in.
  static let ofPartsAndMemory = Metric("ratio.ofPartsAndMemory")
  static let spaceGivenBack = Metric("seconds.spaceGivenBack")

  enum Unit: Sendable { case perSecond, seconds, bytes, ratio }

  var unit: Unit {
    switch name.prefix(while: { $0 != "." }) {
    case "seconds": .seconds
    case "bytes": .bytes
    case "ratio": .ratio
    default: .perSecond
    }
  }

  /// Whether more is better.
  var isRate: Bool { unit == .perSecond || unit == .ratio }

  static func < (left: Metric, right: Metric) -> Bool { left.name < right.name }
}
