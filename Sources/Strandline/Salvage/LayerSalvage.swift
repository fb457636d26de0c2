@_spi(Engine) internal import StrandlineLog

/// Saves what verifies of one layer into a new one.
struct LayerSalvage {
  /// Versions that are lost together.
  struct LostVersions {
    /// In the damaged file.
    var bytes: Range<Int>
    /// Whose they were; nil where nothing tells.
    var prefix: KeyPrefix?
    /// The last key in front of them and the first one behind them that were kept, of any prefix.
    var after: StoreKey?
    var before: StoreKey?
    /// Whether they were the last ones of a layer whose end is not known.
    var isOpenEnded = false
  }

  struct Outcome {
    var kept: KeptLayer
    var versionCount = 0
    /// What a verification of the damaged file says; why nothing of it could be used.
    var damage: [CorruptionReport] = []
    var lost: [LostVersions] = []
  }

  let entry: LayerEntry
  let identifier: StoreIdentifier
  let source: StoreDirectory
  let target: StoreDirectory
  let environment: Environment

  private var keySeed: UInt64 { KeySeeds(memory: 0, identifier: identifier).disk }

  /// - Throws: ``StoreError/outOfSpace(_:)``, ``StoreError/ioFailed(_:)`` of what cannot be written.
  func run() throws(StoreError) -> Outcome {
    let (damage, versionCount) = examine()
    if let versionCount, damage.isEmpty { return Outcome(kept: .whole, versionCount: versionCount) }
    guard let remains = LayerRemains(of: entry, in: source) else { return Outcome(kept: .lost, damage: damage) }
    return try rebuild(remains, damage)
  }

  /// Reads everything. No version count: it could not be opened.
  private func examine() -> (damage: [CorruptionReport], versionCount: Int?) {
    do throws(StoreError) {
      let layer = try LayerInspector(in: source, of: identifier).open(entry)
      return (try layer.verify(), layer.versionCount)
    } catch {
      if case .corrupt(let report) = error { return ([report], nil) }
      return (
        [
          CorruptionReport(
            reason: .layerDamaged, file: source.path(of: entry.fileName), expected: "a layer", found: error.summary)
        ], nil
      )
    }
  }

  private func rebuild(_ remains: LayerRemains, _ damage: [CorruptionReport]) throws(StoreError) -> Outcome {
    var outcome = Outcome(kept: .lost, damage: damage)
    var writer = try LayerWriter(
      in: target, identifier: identifier, environment: environment, keySeed: keySeed,
      options: LayerOptions(
        keyCountMax: remains.keyCountMax, dictionary: remains.dictionary.isEmpty ? .sampled : .given(remains.dictionary)
      ))
    let key = RawMemory(byteCount: BlockView.keyRoomByteCount)
    var last: StoreKey?
    var lastSequence: UInt64 = 0
    /// Losses from here on have no key behind them yet.
    var firstOpen = 0
    while let piece = remains.next() {
      switch piece {
      case .lost(let bytes, let prefix):
        let previous = outcome.lost.last
        if let previous, previous.bytes.upperBound == bytes.lowerBound, previous.prefix == prefix {
          outcome.lost[outcome.lost.count - 1].bytes = previous.bytes.lowerBound..<bytes.upperBound
        } else {
          outcome.lost.append(LostVersions(bytes: bytes, prefix: prefix, after: last))
        }
      case .block(let view):
        for index in 0..<view.count {
          let body = view.body(index)
          let bytes = UnsafeRawBufferPointer(start: key.start, count: view.writeKey(index, body, to: key.start))
          let version = VersionView(
            key: KeyView(prefix: view.prefix, bytes: bytes), sequence: view.sequence(index),
            value: view.isDelete(index) ? nil : body.value)
          let order = last.map { last in last.withView { KeyView.compare($0, version.key) } } ?? -1
          // A block under the right tag is one that we wrote, and those are in order: what is not is a forgery.
          guard order < 0 || order == 0 && version.sequence < lastSequence else { continue }
          try writer.append(version)
          outcome.versionCount += 1
          if order != 0 { last = StoreKey(copying: version.key) }
          lastSequence = version.sequence
          while firstOpen < outcome.lost.count {
            outcome.lost[firstOpen].before = last
            firstOpen += 1
          }
        }
      }
    }
    if !remains.knowsEnd {
      if firstOpen == outcome.lost.count { outcome.lost.append(LostVersions(bytes: 0..<0, after: last)) }
      outcome.lost[outcome.lost.count - 1].isOpenEnded = true
    }
    guard outcome.versionCount > 0 else {
      writer.abandon()
      return outcome
    }
    let isComplete = outcome.lost.isEmpty
    let entry = try writer.finish(
      level: entry.level, covering: entry.firstSequence...entry.lastSequence,
      // What the past looked like is not told by a layer that lacks versions of it.
      horizon: isComplete ? remains.horizon : entry.lastSequence.rawValue, times: remains.times)
    outcome.kept = .rebuilt(entry, isComplete: isComplete)
    return outcome
  }
}
