@_spi(Engine) internal import StrandlineLog

/// The layers that make up the state at one moment, asked from the top.
///
/// Never changes, but for commits that arrive in the active memory layer. Whoever holds a stack keeps its layers: a view of an
/// older one costs what has been written out, merged or reset since, and nobody has to count views.
final class LayerStack: Sendable {
  let epoch: UInt64
  let seeds: KeySeeds
  /// The active one first, then frozen ones, the newest first.
  let memory: [MemoryLayer]
  /// Top first.
  let disk: [DiskLayer]

  init(epoch: UInt64, seeds: KeySeeds, memory: [MemoryLayer], disk: [DiskLayer]) {
    precondition(!memory.isEmpty, "a stack has an active layer")
    self.epoch = epoch
    self.seeds = seeds
    self.memory = memory
    self.disk = disk
  }

  /// The layer that commits go to.
  var active: MemoryLayer { memory[0] }

  /// The newest version of `key` at or below `sequence`; its value is copied into `buffer`.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` or ``StoreError/ioFailed(_:)`` where a block cannot be read.
  /// - Complexity: a probe a layer; at most one block read for each layer that has the key or whose filter errs (1 %).
  @inline(__always)
  func find(_ key: KeyView, at sequence: UInt64, into buffer: inout ValueBuffer) throws(StoreError) -> Finding {
    let hash = KeyHash.of(key, seed: seeds.memory)
    for layer in memory where !layer.isEmpty {
      let finding = layer.find(key, hash: hash, at: sequence, into: &buffer)
      if finding != .absent { return finding }
    }
    if disk.isEmpty { return .absent }
    let diskHash = KeyHash.of(key, seed: seeds.disk)
    for layer in disk {
      let finding = try layer.find(key, hash: diskHash, at: sequence, into: &buffer)
      if finding != .absent { return finding }
    }
    return .absent
  }

  /// A cursor over all versions of each layer that has any, top first.
  ///
  /// - Parameter usesCache: see ``DiskLayer/makeCursor(usesCache:)``.
  func cursors(usesCache: Bool) -> [any VersionCursor] {
    var cursors: [any VersionCursor] = []
    for layer in memory where !layer.isEmpty { cursors.append(layer.makeCursor()) }
    for layer in disk { cursors.append(layer.makeCursor(usesCache: usesCache)) }
    return cursors
  }

  /// What is visible at `sequence` in `range`, in key order.
  func visible(in range: KeyRange, at sequence: UInt64, reverse: Bool = false) -> VisibleCursor {
    VisibleCursor(cursors(usesCache: true), range: range, at: sequence, reverse: reverse)
  }

  /// The oldest sequence number at which every layer still answers as it was.
  var horizon: UInt64 { disk.reduce(0) { max($0, $1.horizon) } }

  /// The same stack with another active layer on top.
  func freezing(into fresh: MemoryLayer) -> LayerStack {
    LayerStack(epoch: epoch, seeds: seeds, memory: [fresh] + memory, disk: disk)
  }

  /// The same stack with its oldest frozen layer replaced by `layer`; nil where that had nothing in it.
  func replacingOldestFrozen(by layer: DiskLayer?) -> LayerStack {
    LayerStack(
      epoch: epoch, seeds: seeds, memory: Array(memory.dropLast()), disk: (layer.map { [$0] } ?? []) + disk)
  }

  /// The same stack with the layers `range` replaced by what they were merged into.
  func replacing(_ range: Range<Int>, by layer: DiskLayer?) -> LayerStack {
    var disk = disk
    disk.replaceSubrange(range, with: layer.map { [$0] } ?? [])
    return LayerStack(epoch: epoch, seeds: seeds, memory: memory, disk: disk)
  }
}
