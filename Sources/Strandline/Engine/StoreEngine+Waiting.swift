@_spi(Engine) internal import StrandlineLog

// Writers and compaction: who writes faster than layers are written out is slowed, and stopped in front of a full layer.

extension StoreEngine {
  /// Waits on this thread until a writer may enter the lane.
  ///
  /// - Throws: what writing it out failed with, if the memory layer is full of commits that cannot be written out; ``StoreError/closed``.
  func passGate() throws(StoreError) {
    if try gate.passAtOnce() { return }
    if gate.writeOutFailure != nil { compactor.retryWithoutThread() }
    let started = environment.clock.monotonicNanoseconds()
    waits.withLock { $0.waitingCount += 1 }
    defer { waits.withLock { $0.waitingCount -= 1 } }
    if try gate.passAsWriter() { noteStall(since: started) }
  }

  /// As ``passGate()``, for tasks: holds no thread of the pool.
  ///
  /// - Returns: what writing it out failed with, if the memory layer is full of commits that cannot be written out.
  /// - Throws: `CancellationError`.
  func waitForGate() async throws -> StoreError? {
    if gate.isBusy {
      let started = environment.clock.monotonicNanoseconds()
      let isStalled = gate.isStalled
      waits.withLock { $0.waitingCount += 1 }
      defer { waits.withLock { $0.waitingCount -= 1 } }
      while gate.isBusy { try await Task.sleep(for: .milliseconds(1)) }
      if isStalled { noteStall(since: started) }
    }
    guard gate.isStalled, gate.writeOutFailure != nil else { return nil }
    compactor.retryWithoutThread()
    return gate.isStalled ? gate.writeOutFailure : nil
  }

  private func noteStall(since started: UInt64) {
    let nanoseconds = environment.clock.monotonicNanoseconds() &- started
    waits.withLock { $0.noteStalled(nanoseconds) }
    options.observer?.note(.stalled(nanoseconds: nanoseconds))
  }

  /// For how long the writer of a commit is to be held up. Called in the lane.
  func slowdown(_ lane: inout Lane, byteCount: Int) -> UInt64 {
    let stack = lane.state.stack
    // Without a thread the writer itself has written out what was full.
    guard compactor.hasThread, options.compactsInBackground, stack.memory.count > 1 else { return 0 }
    let fill = Double(stack.active.byteCount) / Double(options.memoryLayerByteCountMax)
    let now = environment.clock.monotonicNanoseconds()
    return pace.withLock { $0.delay(byteCount: byteCount, fill: fill, now: now) }
  }

  /// Takes note of a writer that was held up.
  func noteSlowdown(_ nanoseconds: UInt64) {
    waits.withLock { $0.noteSlowed(nanoseconds) }
    options.observer?.note(.slowed(nanoseconds: nanoseconds))
  }
}
