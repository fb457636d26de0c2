internal import StrandlineProtocol

extension SyncClient {
  /// Files that one sync sends at most.
  static let driveCountMax = 32

  /// The bytes of a file are not where its row says.
  private struct LocalBytesMissing: Error {
    var reason: String
  }

  private struct ConfirmationFailure: Error {
    var failure: TransferFailure
  }

  /// Sends queued files, the oldest first. With the network gate held, behind a push that went through.
  ///
  /// What a transfer fails with stands on the file's row.
  ///
  /// - Throws: ``SyncError`` for what the store refuses.
  func driveUploads() async throws {
    guard try transferInForce() != nil else { return }
    try await recoverAttachments()
    let waiting = try read { try $0.attachmentCandidates(.upload).map(\.reference) }
    var drivenCount = 0
    for reference in waiting where drivenCount < Self.driveCountMax {
      // The session may end, and a block come, while files are under way.
      guard let (port, context) = try transferInForce() else { return }
      guard let job = try await claim(reference) else { continue }
      drivenCount += 1
      if try await !holding(job, { try await drive(job, port, context) }) { return }
    }
  }

  /// Gives back what a process that died had claimed. With the network gate held.
  private func recoverAttachments() async throws {
    let now = configuration.clock.milliseconds()
    let claimed = try read { view in
      let held = try view.query(StateTable.attachments).where("in_flight", .equals, true).all().map { row in
        try AttachmentRow(row)
      }
      let (uploading, downloading) = (try view.attachments(in: .uploading), try view.attachments(in: .downloading))
      return Set((held + uploading + downloading).map(\.reference))
    }
    if claimed.isEmpty { return }
    try await commit(.attachmentStep) { state in
      for reference in claimed.sorted() {
        guard var file = try state.attachment(reference), file.recover() else { continue }
        try state.put(file, now: now)
      }
    }
  }

  /// One transfer; false: the session is over, and the others need not be tried.
  private func drive(_ job: AttachmentRow, _ port: any TransferPort, _ context: TransferContext) async throws -> Bool {
    do {
      let byteCount = try await send(job, port, context)
      do throws(TransferFailure) {
        try await port.confirm(
          TransferObject(job), byteCount: job.size ?? byteCount, sha256: job.sha256, context)
      } catch {
        throw ConfirmationFailure(failure: error)
      }
      try await settle(job) { file in
        file.finish()
        file.size = file.size ?? byteCount
      }
    } catch let failure as TransferFailure {
      if Task.isCancelled { throw CancellationError() }
      let effect = TransferEffect(upload: failure.kind)
      try await settle(job) { $0.take(effect, secretMask.told(failure.description)) }
      return effect != .release
    } catch let failure as ConfirmationFailure {
      if Task.isCancelled { throw CancellationError() }
      try await settle(job) {
        $0.take(TransferEffect(confirmation: failure.failure.kind), secretMask.told(failure.failure.description))
      }
    } catch let missing as LocalBytesMissing {
      try await settle(job) { $0.fail(.store, missing.reason) }
    }
    return true
  }

  /// Brings all bytes to the storage; answers how many they are.
  private func send(_ job: AttachmentRow, _ port: any TransferPort, _ context: TransferContext) async throws -> Int64 {
    guard let path = job.localPath, let byteCount = AttachmentFiles.byteCount(of: path) else {
      throw LocalBytesMissing(reason: "the bytes of \(job.reference) are not at \(job.localPath ?? "any path")")
    }
    guard byteCount > Int64(Self.attachmentChunkByteCount) else {
      try await port.upload(try await bytes(of: path, from: 0, count: byteCount), as: TransferObject(job), context)
      return byteCount
    }
    let fingerprint = "\(job.sha256 ?? ""):\(byteCount)"
    var offset: Int64
    let session: String
    if let url = job.sessionURL, job.fingerprint == fingerprint {
      session = url
      offset = try await port.offset(ofSession: url, context)
    } else {
      session = try await port.openSession(for: TransferObject(job), byteCount: byteCount, context)
      offset = 0
    }
    try Self.check(offset, atLeast: 0, of: byteCount)
    try await record(job, session, fingerprint, offset, of: byteCount)
    while offset < byteCount {
      let count = min(Int64(Self.attachmentChunkByteCount), byteCount - offset)
      let piece = try await bytes(of: path, from: offset, count: count)
      let next: Int64
      do throws(TransferFailure) {
        next = try await port.append(piece, at: offset, toSession: session, context)
      } catch {
        // Broken off: goes on where the session stands, if that is any further.
        guard error.kind == .unreachable, !Task.isCancelled else { throw error }
        next = try await port.offset(ofSession: session, context)
        if next == offset { throw error }
      }
      try Self.check(next, atLeast: offset + 1, of: byteCount)
      offset = next
      try await record(job, session, fingerprint, offset, of: byteCount)
    }
    return byteCount
  }

  private func bytes(of path: String, from offset: Int64, count: Int64) async throws -> [UInt8] {
    guard let bytes = await AttachmentFiles.read(path, from: offset, count: Int(count)) else {
      throw LocalBytesMissing(reason: "\(path) cannot be read")
    }
    return bytes
  }

  /// A session that says it has what it cannot have is none.
  private static func check(_ offset: Int64, atLeast least: Int64, of byteCount: Int64) throws(TransferFailure) {
    if offset < least || offset > byteCount {
      throw TransferFailure(.sessionLost, "it has \(offset) of \(byteCount) bytes")
    }
  }

  private func record(
    _ job: AttachmentRow, _ session: String, _ fingerprint: String, _ offset: Int64, of byteCount: Int64
  ) async throws {
    try await settle(job) { file in
      file.sessionURL = session
      file.fingerprint = fingerprint
      file.chunkOffset = offset
      file.progress = Double(offset) / Double(byteCount)
    }
  }
}
