internal import StrandlineProtocol

extension SyncClient {
  /// Pushes what is queued, sends files if that went well, then pulls what is new. Runs that are asked for at once go one after the other.
  ///
  /// A client that is blocked, see ``Checkpoint/softBlockReason``, or paused, ``SyncSession/pause()``, returns without a request.
  ///
  /// - Throws: ``SyncError``: what ended the push, if it may pass (nothing was pulled then) or could not be helped (the pull was made all
  ///   the same); otherwise what the store refused of the files' rows, or what ended the pull. What was answered until then stands.
  ///   A transfer that fails is no error: ``getStatus(_:)``.
  public func sync() async throws {
    defer { tellWatchers(of: nil) }
    try await run {
      var firstError: (any Error)?
      do {
        try await pushAll()
      } catch let error as SyncError where error.catalogueCode != .remote && error.catalogueCode != .engineUnavailable {
        firstError = error
      }
      if firstError == nil {
        do {
          try await driveUploads()
        } catch let error as SyncError where error.catalogueCode != .engineUnavailable {
          firstError = error
        }
      }
      do {
        try await pullAll()
      } catch {
        throw firstError ?? error
      }
      if let firstError { throw firstError }
    }
  }

  /// Pulls one page.
  ///
  /// - Throws: ``SyncError``; see ``sync()``.
  public func pullOnce() async throws {
    try await run {
      if case .failedBesideNewScope(let error) = try await pullPage() { throw error }
    }
  }

  /// Pushes one slice of the queue. Gives up no write, however often the server refuses.
  ///
  /// - Throws: ``SyncError``; see ``sync()``.
  public func pushOnce() async throws {
    try await run {
      if case .refused(let slice, let failure) = try await pushSlice() { throw SyncError(failure, pushing: slice) }
    }
  }

  /// Runs `body` with the network gate held; what ends it is also told to the error handler, once the gate is given back.
  private func run(_ body: () async throws -> Void) async throws {
    try ensureNotClosing()
    do {
      try await networkGate.pass {
        try ensureRunnable()
        withMemory { $0.session.isRunning = true }
        defer { withMemory { $0.session.isRunning = false } }
        try await body()
      }
    } catch {
      var thrown = SyncError.thrown(for: error)
      if let error = thrown as? SyncError { thrown = judge(error) }
      ended(with: thrown)
      throw thrown
    }
    ended(with: nil)
  }
}
