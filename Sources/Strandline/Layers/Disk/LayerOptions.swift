/// What a layer is written with.
struct LayerOptions: Sendable {
  /// What blocks are compressed against.
  enum Dictionary: Sendable {
    /// From the first rows, if there are enough of them and they gain from it.
    case sampled
    /// These bytes, at most 32 KiB: what the layer is like, as ``LayerDictionary`` gathers it, or of a layer that is merged.
    case given([UInt8])
    case none
  }

  /// How hard blocks are compressed. What is read is the same, at the same speed.
  enum Effort: Sendable {
    /// For what will be merged again.
    case fast
    /// For what was asked to be small: an eighth less of rows like those of Docs/Benchmarks.md, for more work.
    case thorough
  }

  var dictionary = Dictionary.sampled
  var effort = Effort.fast
  /// How many keys there may be: sizes the filter. More of them are as right, only slower to miss.
  var keyCountMax: Int
  /// Bytes gathered before one is written.
  var writeByteCount = 1 << 20

  init(keyCountMax: Int, dictionary: Dictionary = .sampled, effort: Effort = .fast) {
    self.keyCountMax = keyCountMax
    self.dictionary = dictionary
    self.effort = effort
  }
}

/// When a commit was made, as a layer keeps it for retention by age.
struct TimeSample: Hashable, Sendable {
  var sequence: UInt64
  /// Since 1970.
  var milliseconds: Int64
}
