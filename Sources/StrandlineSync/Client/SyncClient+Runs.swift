internal import StrandlineProtocol

extension SyncClient {
  /// Pushes what is queued, sends files if that went well, then pulls what is new. Runs that are asked for at once go one after the other.
  ///
  /// A client that is blocked, see ``Checkpoint/softBlockReason``, returns without a request.
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
      } catch let error as SyncError where error.code != .remote && error.code != .engineUnavailable {
        firstError = error
      }
      if firstError == nil {
        do {
          try await driveUploads()
        } catch let error as SyncError where error.code != .engineUnavailable {
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
      if case .refused(_, let failure) = try await pushSlice() { throw SyncError(failure) }
    }
  }

  /// Runs `body` with the network gate held; what ends it is also told to the error handler.
  private func run(_ body: () async throws -> Void) async throws {
    try ensureOpen()
    do {
      try await networkGate.pass {
        try ensureOpen()
        try await body()
      }
    } catch {
      let error = SyncError.thrown(for: error)
      report(error)
      throw error
    }
  }

  private func report(_ error: any Error) {
    if let error = error as? SyncError {
      if error.code == .engineUnavailable { return }
    } else {
      return
    }
    guard let handler = withMemory({ $0.errorHandler }) else { return }
    delivery.call { handler(error) }
  }

  /// Told of each error that ends a run, where events are delivered and in order with them. First what the configuration names.
  public var errorHandler: (@Sendable (any Error) -> Void)? {
    get { withMemory { $0.errorHandler } }
    set { withMemory { $0.errorHandler = newValue } }
  }
}
