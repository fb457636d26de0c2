internal import StrandlineProtocol

extension SyncClient {
  /// Answers where the bytes of a file are, and fetches them where they are not here and can be had.
  ///
  /// What is here is answered at once, also on a blocked client and with nobody signed in. What is fetched is checked against its SHA-256
  /// before any row points to it.
  ///
  /// - Returns: nil for a reference that is not known, a file that is on its way or wanted no more, a client that is blocked, has no
  ///   session or no ``SyncConfiguration/transfer``, and a transfer that failed: ``getStatus(_:)`` says with what.
  /// - Throws: ``SyncErrorCode/attachmentPortsMissing`` for a fetch without a directory for attachments, ``SyncErrorCode/store``,
  ///   ``SyncErrorCode/engineUnavailable``.
  public func resolveDownload(_ reference: String) async throws -> String? {
    try ensureOpen()
    return try await networkGate.pass {
      defer { tellWatchers(of: reference) }
      do { return try await resolve(reference) } catch { throw SyncError.thrown(for: error) }
    }
  }

  private func resolve(_ reference: String) async throws -> String? {
    guard let file = try read({ try $0.attachment(reference) }) else { return nil }
    if let path = file.localPath, AttachmentFiles.byteCount(of: path) != nil { return path }
    guard let (port, context) = try transferInForce(), file.isLive, !file.isInFlight,
      file.state != .uploading, file.state != .downloading
    else { return nil }
    if file.state == .synced {
      try await step(reference) { if $0.state == .synced { $0.refetch() } }
    } else if file.direction == .upload {
      return nil
    }
    guard let files else {
      throw SyncError(
        .attachmentPortsMissing, "the client has no directory for attachments; set attachmentRoot and open it again")
    }
    guard let job = try await claim(reference) else { return nil }
    return try await holding(job) { try await fetch(job, into: files, port, context) }
  }

  private func fetch(
    _ job: AttachmentRow, into files: AttachmentFiles, _ port: any TransferPort, _ context: TransferContext
  ) async throws -> String? {
    let object = TransferObject(job)
    let incoming = configuration.ids.uuid()
    defer { files.dropIncoming(incoming) }
    do {
      let told = try await port.sha256(of: object, context)
      guard let expected = SHA256.wellFormed(told) ?? SHA256.wellFormed(job.sha256) else {
        try await settle(job) { file in
          file.fail(.attachmentUnverified, "neither the server nor this device knows the SHA-256 of the file")
        }
        return nil
      }
      try files.make(.incoming)
      try await port.download(object, to: files.path(incoming, in: .incoming), context)
      let digest = try await files.digestIncoming(incoming)
      guard digest.sha256 == expected else {
        try await settle(job) { file in
          file.fail(.attachmentHashMismatch, "the bytes have the SHA-256 \(digest.sha256), and not \(expected)")
        }
        return nil
      }
      return try await fileGate.pass {
        let path = try files.keep(incoming, as: expected, in: .downloads)
        var isKept = false
        try await settle(job) { file in
          file.finish()
          file.localPath = path
          file.sha256 = expected
          file.size = digest.byteCount
          isKept = true
        }
        return isKept ? path : nil
      }
    } catch let failure as TransferFailure {
      if Task.isCancelled { throw CancellationError() }
      try await settle(job) { $0.take(TransferEffect(download: failure.kind), secretMask.told(failure.description)) }
      return nil
    } catch let failure as SyncError where failure.catalogueCode == .store {
      // The directory, or the disk. Where it is the store itself, this cannot be written either, and is thrown.
      try await settle(job) { $0.fail(.store, failure.message) }
      return nil
    }
  }
}
