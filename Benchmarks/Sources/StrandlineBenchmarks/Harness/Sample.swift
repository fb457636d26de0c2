/// What one timed run gave.
struct Sample: Sendable {
  private(set) var values: [Metric: Double] = [:]
  /// What the run computed or stored; equal for every subject and run of a bench. nil where there is nothing to
  /// compare.
  var resultHash: UInt64?

  subscript(metric: Metric) -> Double? {
    get { values[metric] }
    set { values[metric] = newValue }
  }

  init() {}

  init(rows: Int, seconds: Double, resultHash: UInt64?) {
    self[.rowsPerSecond] = Double(rows) / seconds
    self[.seconds] = seconds
    self.resultHash = resultHash
  }

  /// Adds percentiles of `nanoseconds`, one latency an operation.
  mutating func addLatencies(_ nanoseconds: [UInt64]) {
    guard !nanoseconds.isEmpty else { return }
    let percentiles = Percentiles(nanoseconds)
    self[.p50] = percentiles[0.5]
    self[.p90] = percentiles[0.9]
    self[.p99] = percentiles[0.99]
    self[.p999] = percentiles[0.999]
    self[.longest] = percentiles[1]
  }
}

/// Values that occurred, in seconds: the share `self[share]` of all is not larger.
struct Percentiles {
  private let sorted: [UInt64]

  /// `nanoseconds` is not empty.
  init(_ nanoseconds: [UInt64]) { sorted = nanoseconds.sorted() }

  subscript(share: Double) -> Double {
    let rank = (share * Double(sorted.count)).rounded(.up)
    return Double(sorted[max(0, Int(rank) - 1)]) / 1e9
  }
}

/// A sample as one line of text, for the way from a child process to its parent.
extension Sample {
  /// `metric=value …`, with `hash=…` in hexadecimal.
  var line: String {
    var words = values.sorted { $0.key < $1.key }.map { "\($0.key.name)=\($0.value)" }
    if let resultHash { words.append("hash=\(String(resultHash, radix: 16))") }
    return words.joined(separator: " ")
  }

  /// nil if `line` is not such a line.
  init?(line: some StringProtocol) {
    for word in line.split(separator: " ") {
      let parts = word.split(separator: "=")
      guard parts.count == 2 else { return nil }
      if parts[0] == "hash" {
        guard let hash = UInt64(parts[1], radix: 16) else { return nil }
        resultHash = hash
      } else {
        guard let value = Double(parts[1]) else { return nil }
        self[Metric(String(parts[0]))] = value
      }
    }
    guard !values.isEmpty else { return nil }
  }
}

/// Median, smallest and largest of the runs.
struct Summary: Hashable, Sendable {
  var median: Double
  var min: Double
  var max: Double

  init(median: Double, min: Double, max: Double) {
    self.median = median
    self.min = min
    self.max = max
  }

  /// `values` is not empty.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "a summary needs a value")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    min = sorted[0]
    max = sorted[sorted.count - 1]
  }
}
