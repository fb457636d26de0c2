@_spi(Engine) internal import StrandlineLog

/// Which keys commits have written since it was asked last, as memory layers have them: in the order in which they were put.
///
/// Costs writers nothing, and holds nothing but a place. Whoever was away for long is told so, and looks at everything.
struct RecentKeys {
  private var layer: MemoryLayer
  private var place: MemoryLayer.Mark

  /// More than this many are not told apart.
  static let countMax = 4096

  /// In front of everything that lies in memory.
  init(_ snapshot: Snapshot) {
    layer = Self.oldest(snapshot)
    place = layer.start
  }

  private static func oldest(_ snapshot: Snapshot) -> MemoryLayer {
    snapshot.state.stack.memory.last ?? snapshot.state.stack.active
  }

  /// The keys behind `prefix` that commits behind `sequence` have written, up to `snapshot`'s.
  ///
  /// - Returns: nil: too many, or some of them lie in memory no more.
  mutating func take(
    _ prefix: KeyPrefix, behind sequence: UInt64, upTo snapshot: Snapshot
  ) -> Set<[UInt8]>? {
    let layers = snapshot.state.stack.memory
    guard let first = layers.firstIndex(where: { $0 === layer }) else {
      self = RecentKeys(snapshot)
      return nil
    }
    var keys: Set<[UInt8]>? = []
    for index in (0...first).reversed() {
      if index != first {
        layer = layers[index]
        place = layer.start
      }
      let isDone = layer.walk(from: &place, through: snapshot.sequence) { key, written in
        guard written > sequence, key.prefix == prefix, keys != nil else { return }
        keys?.insert(Array(key.bytes))
        if keys?.count ?? 0 > Self.countMax { keys = nil }
      }
      // What a commit on its way has put is looked at when it has arrived.
      if !isDone { break }
    }
    return keys
  }
}
