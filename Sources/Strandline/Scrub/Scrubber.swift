@_spi(Engine) internal import StrandlineLog

/// One walk over everything that is stored: every segment of the log, then every block of every layer.
///
/// Holds no lock while it reads, and of the layers only the one at hand: one that is merged away meanwhile is let go.
final class Scrubber: Sendable {
  private let engine: StoreEngine
  private let bytesPerSecond: Int?
  private let isStopped = Monitor(false)

  init(_ engine: StoreEngine, bytesPerSecond: Int?) {
    self.engine = engine
    self.bytesPerSecond = bytesPerSecond
  }

  /// Ends the walk at the next block, a pause at once. From any thread.
  func stop() { isStopped.change { $0 = true } }

  private struct WeakLayer { weak var layer: DiskLayer? }

  private struct Walk {
    var report = ScrubReport()
    var pace: ScrubPace
    var told: UInt64 = 0
  }

  /// - Parameter progress: called about once a MiB; answers whether to go on.
  /// - Throws: ``StoreError/closed``, ``StoreError/wrongProcess``.
  func run(_ progress: (ScrubProgress) -> Bool) throws(StoreError) -> ScrubReport {
    let clock = engine.environment.clock
    let started = clock.monotonicNanoseconds()
    var walk = Walk(pace: ScrubPace(bytesPerSecond: bytesPerSecond, now: started))
    let segmentCount: Int?
    do throws(LogError) {
      segmentCount = try engine.log.scrub(
        progress: { goesOn(&walk, behind: $0, progress) }, note: { add($0, &walk) })
    } catch {
      throw StoreError(error)
    }
    walk.report.segmentCount = segmentCount ?? 0
    walk.report.isComplete = segmentCount != nil
    if walk.report.isComplete { try scrubLayers(&walk, progress) }
    walk.report.nanoseconds = clock.monotonicNanoseconds() &- started
    return walk.report
  }

  private func scrubLayers(_ walk: inout Walk, _ progress: (ScrubProgress) -> Bool) throws(StoreError) {
    for weak in try engine.snapshot().state.stack.disk.map({ WeakLayer(layer: $0) }) {
      guard let layer = weak.layer, engine.isNeeded(layer) else { continue }
      var isWanted = true
      let isDone = layer.scrub(
        progress: { byteCount in
          isWanted = engine.isNeeded(layer)
          return isWanted && goesOn(&walk, behind: byteCount, progress)
        }, note: { add($0, &walk) })
      if isDone { walk.report.layerCount += 1 }
      if !isDone, isWanted {
        walk.report.isComplete = false
        return
      }
    }
    _ = try engine.snapshot()
  }

  private func add(_ finding: ScrubFinding, _ walk: inout Walk) {
    walk.report.add(finding)
    engine.options.observer?.note(.scrubFound(finding))
  }

  private func goesOn(_ walk: inout Walk, behind byteCount: Int, _ progress: (ScrubProgress) -> Bool) -> Bool {
    walk.report.byteCount += UInt64(byteCount)
    let pause = walk.pace.pause(behind: byteCount, now: engine.environment.clock.monotonicNanoseconds())
    let isStopped =
      pause > 0
      ? self.isStopped.wait(nanoseconds: pause) { $0 ? true : nil } ?? false : self.isStopped.look { $0 }
    if isStopped { return false }
    guard walk.report.byteCount >= walk.told + 1 << 20 else { return true }
    walk.told = walk.report.byteCount
    return progress(ScrubProgress(byteCount: walk.report.byteCount, totalByteCount: engine.storedByteCount))
  }
}

extension StoreEngine {
  /// Whether readers of now see the layer.
  fileprivate func isNeeded(_ layer: DiskLayer) -> Bool {
    published.withLock { $0.snapshot.state.stack.disk.contains { $0 === layer } }
  }

  /// Bytes of the log and of the layers.
  fileprivate var storedByteCount: UInt64 {
    let layers = published.withLock { $0.snapshot.state.stack.disk }
    return log.segmentExtents.reduce(0) { $0 + $1.byteCount } + layers.reduce(0) { $0 + $1.entry.byteCount }
  }
}
