@_spi(Engine) internal import StrandlineLog

extension StoreEngine {
  /// Runs one walk; closing the store ends it.
  ///
  /// - Throws: ``StoreError/closed``, also if the store is closed meanwhile; ``StoreError/wrongProcess``.
  func scrub(_ scrubber: Scrubber, _ progress: (ScrubProgress) -> Bool) throws(StoreError) -> ScrubReport {
    scrubbers.withLock { $0[ObjectIdentifier(scrubber)] = scrubber }
    defer { scrubbers.withLock { $0[ObjectIdentifier(scrubber)] = nil } }
    _ = try snapshot()
    let report = try scrubber.run(progress)
    if !report.isComplete { _ = try snapshot() }
    options.observer?.note(.scrubbed(report))
    return report
  }

  /// Starts walking over everything again and again, if that is asked for.
  func startScrubRounds() throws(StoreError) {
    guard options.scrub != nil, options.log.helpers == .threads else { return }
    let engine = WeakEngine()
    engine.set(self)
    let thread = HelperThread(name: "strand-scrub", clock: environment.clock) { engine.get()?.scrubRound() }
    do throws(Errno) {
      try thread.start()
    } catch {
      throw .ioFailed(IOFailure(operation: .startThread, path: log.path, errno: error))
    }
    scrubThread.withLock { $0 = thread }
    thread.wake(at: environment.clock.monotonicNanoseconds())
  }

  private func scrubRound() {
    guard let schedule = options.scrub else { return }
    do throws(StoreError) {
      _ = try scrub(Scrubber(self, bytesPerSecond: schedule.bytesPerSecond)) { _ in true }
    } catch {
      // Closed: there is no next round.
      return
    }
    let next = environment.clock.monotonicNanoseconds() &+ schedule.interval.nanoseconds
    scrubThread.withLock { $0 }?.wake(at: next)
  }

  /// Ends every walk, for good.
  func endScrubs() {
    let thread = scrubThread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    for scrubber in scrubbers.withLock({ Array($0.values) }) { scrubber.stop() }
    thread?.stop()
  }
}
