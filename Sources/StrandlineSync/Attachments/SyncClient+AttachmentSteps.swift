internal import StrandlineProtocol

extension SyncClient {
  /// Bytes of a file that travel with one request. A larger file goes piece by piece, and is resumed.
  public static let attachmentChunkByteCount = 6 << 20

  /// Takes one step of one file in one commit, then tells who watches it. False: there is no such file, and nothing was told.
  @discardableResult
  func step(_ reference: String, _ change: (inout AttachmentRow) -> Void) async throws -> Bool {
    let now = configuration.clock.milliseconds()
    let isThere = try await commit(.attachmentStep) { state in try state.step(reference, now: now, change) }
    if isThere { tellWatchers(of: reference) }
    return isThere
  }

  /// Takes a step of the file that a transfer holds. One that was removed, or put anew, meanwhile is left alone; one that is wanted no
  /// more is only let go.
  func settle(_ job: AttachmentRow, _ change: (inout AttachmentRow) -> Void) async throws {
    try await step(job.reference) { file in
      guard file.isHeld(by: job) else { return }
      if file.isLive { change(&file) } else { file.isInFlight = false }
    }
  }

  /// Takes the file for one transfer; nil: it is not to be had.
  ///
  /// An upload whose row does not carry the reference is not had: it waits, uncharged.
  func claim(_ reference: String) async throws -> AttachmentRow? {
    let now = configuration.clock.milliseconds()
    let attemptCountMax = configuration.attachmentAttemptCountMax
    let (job, isChanged) = try await commit(.attachmentStep) { state -> (AttachmentRow?, Bool) in
      guard var file = try state.attachment(reference) else { return (nil, false) }
      let isWaiting = file.state == .queued && file.error == nil && file.errorCode == nil
      switch file.claim(attemptCountMax: attemptCountMax) {
      case .refused: return (nil, false)
      case .spent:
        try state.put(file, now: now)
        return (nil, true)
      case .given:
        let isCarried = try state.carries(file)
        if file.direction == .download || isCarried {
          try state.put(file, now: now)
          return (file, true)
        }
        // Nothing is written for a file that goes on waiting.
        if isWaiting { return (nil, false) }
        file.release()
        try state.put(file, now: now)
        return (nil, true)
      }
    }
    if isChanged { tellWatchers(of: reference) }
    return job
  }

  /// Runs the transfer of a file that was claimed. One that the caller's cancellation breaks off gives the claim back, uncharged: nobody
  /// else would before the next drive.
  func holding<Result>(_ job: AttachmentRow, _ transfer: () async throws -> Result) async throws -> Result {
    do {
      return try await transfer()
    } catch let error as CancellationError {
      // A commit of the cancelled task itself would be refused. What the store refuses now is recovered by the next drive.
      await Task { try? await settle(job) { $0.release() } }.value
      throw error
    }
  }

  /// What a transfer may be made with now; nil: there is none, nobody is signed in, or the client is blocked or paused.
  func transferInForce() throws -> (port: any TransferPort, context: TransferContext)? {
    guard let port = configuration.transfer else { return nil }
    let (session, subject) = withMemory { ($0.session, $0.subject) }
    if subject == nil || session.isPaused || session.access.isGivenUp { return nil }
    if try read({ try $0.softBlock() }) != nil { return nil }
    return (port, TransferContext(accessToken: session.access.token))
  }
}

extension SyncState {
  /// Whether the row of a file still names it.
  mutating func carries(_ file: AttachmentRow) throws -> Bool {
    guard tables.find(file.name.table) != nil, let reference = AttachmentReference(file.reference) else { return false }
    return AttachmentReference(try row(file.name)?.columns[file.column]) == reference
  }
}
