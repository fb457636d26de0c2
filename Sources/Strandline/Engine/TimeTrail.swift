/// Which commit was the last one by a certain time, kept coarsely: enough to tell what history is older than an age.
struct TimeTrail: Hashable, Sendable {
  static let sampleCountMax = 64
  /// Oldest first, both numbers ascending.
  private(set) var samples: [TimeSample] = []

  init(_ samples: [TimeSample] = []) {
    for sample in samples { note(sample.milliseconds, sequence: sample.sequence) }
  }

  /// Takes note of a commit. A clock that was set back counts as standing still.
  mutating func note(_ time: Int64, sequence: UInt64) {
    guard let last = samples.last else {
      samples.append(TimeSample(sequence: sequence, milliseconds: time))
      return
    }
    guard sequence > last.sequence else { return }
    let next = TimeSample(sequence: sequence, milliseconds: max(time, last.milliseconds))
    // The newest two stay as they come; what lies behind them is thinned out.
    if samples.count >= 2, next.milliseconds - samples[samples.count - 2].milliseconds < spacing {
      samples[samples.count - 1] = next
    } else {
      samples.append(next)
    }
    if samples.count > Self.sampleCountMax { thin() }
  }

  /// The newest commit known to be made before `time`; zero if none.
  func sequence(before time: Int64) -> UInt64 { samples.last { $0.milliseconds < time }?.sequence ?? 0 }

  private var spacing: Int64 {
    guard let first = samples.first, let last = samples.last else { return 0 }
    return (last.milliseconds - first.milliseconds) / Int64(Self.sampleCountMax)
  }

  /// Drops every other sample, the ends stay.
  private mutating func thin() {
    let last = samples.count - 1
    samples = samples.enumerated().filter { $0.offset % 2 == 0 || $0.offset == last }.map(\.element)
  }
}
