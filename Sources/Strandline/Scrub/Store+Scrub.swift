extension Store {
  /// Reads every byte of the log and of the layers and proves it, as fast as the device gives it. Commits and reads go on meanwhile.
  ///
  /// Finds what has rotted since it was written, before a read or an open meets it. Changes nothing: damage in a layer costs the reads that
  /// need the damaged block, and a backup or another replica has to make it good.
  ///
  /// - Parameter progress: called about once a MiB; answers whether to go on.
  /// - Returns: what was found, and whether it came to the end.
  /// - Throws: ``StoreError/closed``, also if the store is closed meanwhile; ``StoreError/wrongProcess``. Damage and failing reads are in the
  ///   report.
  /// - Complexity: one read of everything; memory for one block, one frame and one layer's filter.
  @available(*, noasync, message: "reads everything; use the async form")
  public func verify(progress: (ScrubProgress) -> Bool = { _ in true }) throws(StoreError) -> ScrubReport {
    try engine.scrub(Scrubber(engine, bytesPerSecond: nil), progress)
  }

  /// As the synchronous form, on a thread of its own. `CancellationError` once the task is cancelled.
  public func verify(progress: @escaping @Sendable (ScrubProgress) -> Void = { _ in }) async throws -> ScrubReport {
    try await run(Scrubber(engine, bytesPerSecond: nil), progress)
  }

  /// As ``verify(progress:)``, slowly, so that nobody else feels it.
  ///
  /// - Parameter bytesPerSecond: how much is read in a second at most, on average; at least 1.
  /// - SeeAlso: ``StoreOptions/scrub``, which does it again and again.
  @available(*, noasync, message: "takes long; use the async form")
  public func scrub(
    bytesPerSecond: Int, progress: (ScrubProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> ScrubReport {
    try engine.scrub(Scrubber(engine, bytesPerSecond: bytesPerSecond), progress)
  }

  /// As the synchronous form, on a thread of its own. `CancellationError` once the task is cancelled.
  public func scrub(
    bytesPerSecond: Int, progress: @escaping @Sendable (ScrubProgress) -> Void = { _ in }
  ) async throws -> ScrubReport {
    try await run(Scrubber(engine, bytesPerSecond: bytesPerSecond), progress)
  }

  private func run(
    _ scrubber: Scrubber, _ progress: @escaping @Sendable (ScrubProgress) -> Void
  ) async throws -> ScrubReport {
    try Task.checkCancellation()
    let engine = engine
    let report = try await withTaskCancellationHandler {
      try await OwnThread.run { () throws(StoreError) in
        try engine.scrub(scrubber) { made in
          progress(made)
          return true
        }
      }
    } onCancel: {
      scrubber.stop()
    }
    if !report.isComplete { try Task.checkCancellation() }
    return report
  }
}
