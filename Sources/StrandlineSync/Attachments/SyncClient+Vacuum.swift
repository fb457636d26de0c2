internal import StrandlineProtocol

extension SyncClient {
  /// Deletes what no row names any more: of orphaned files the object on the storage and the bytes here, of evicted ones the bytes here.
  ///
  /// Does nothing on a client that is blocked, or with nobody signed in. Without ``SyncConfiguration/transfer`` orphaned files stay;
  /// without a directory for attachments no file is deleted.
  ///
  /// - Throws: ``SyncErrorCode/store`` with what was done until then, ``SyncErrorCode/engineUnavailable``.
  public func vacuum() async throws {
    try ensureOpen()
    try await networkGate.pass {
      do { try await sweep() } catch { throw SyncError.thrown(for: error) }
    }
  }

  private func sweep() async throws {
    if withMemory({ $0.subject }) == nil { return }
    let (block, orphaned) = try read { (try $0.softBlock(), try $0.attachments(in: .orphaned)) }
    if block != nil { return }
    for file in try await unnamed(orphaned) {
      guard let (port, context) = try transferInForce() else { break }
      try await deleteOrphan(file, port, context)
    }
    for file in try read({ try $0.attachments(in: .evicted) }) where file.localPath != nil {
      try await deleteBytes(of: file, thenKeepingRow: true)
    }
  }

  /// A file that a row, or a queued write, names anew is not deleted.
  private func unnamed(_ orphaned: [AttachmentRow]) async throws -> [AttachmentRow] {
    if orphaned.isEmpty { return [] }
    let named = try await commit(.attachmentStep) { state in
      try state.named(among: Set(orphaned.compactMap { AttachmentReference($0.reference) }))
    }
    return orphaned.filter { file in !(AttachmentReference(file.reference).map { named.contains($0) } ?? false) }
  }

  private func deleteOrphan(_ file: AttachmentRow, _ port: any TransferPort, _ context: TransferContext) async throws {
    var effect = DeletionEffect.evict
    var failure: TransferFailure?
    if file.attempts < Int64(configuration.attachmentAttemptCountMax) {
      do throws(TransferFailure) {
        try await port.delete(TransferObject(file), context)
        effect = .done
      } catch {
        if Task.isCancelled { throw CancellationError() }
        effect = DeletionEffect(error.kind)
        failure = error
      }
    }
    switch effect {
    case .done: try await deleteBytes(of: file, thenKeepingRow: false)
    case .evict:
      try await step(file.reference) { if $0.state == .orphaned { $0.evict() } }
      try await deleteBytes(of: file, thenKeepingRow: true)
    case .keep:
      let message = failure.map { "\($0)" }
      try await step(file.reference) { row in
        row.attempts += 1
        row.error = message
        row.errorCode = SyncErrorCode.transfer.rawValue
      }
    }
  }

  /// Deletes the file here, unless another row lives on it, and then says so in the row, or takes the row out.
  private func deleteBytes(of file: AttachmentRow, thenKeepingRow keepsRow: Bool) async throws {
    try await fileGate.pass {
      var isGone = false
      if let files, let path = file.localPath {
        let isShared = try read { view in
          try view.query(StateTable.attachments).where("local_path", .equals, .string(path)).all().contains { row in
            let other = try AttachmentRow(row)
            return other.isLive && other.reference != file.reference
          }
        }
        isGone = isShared || files.delete(path)
      }
      let forgetsPath = isGone
      let now = configuration.clock.milliseconds()
      try await commit(.attachmentStep) { state in
        // What became of the row meanwhile goes before.
        guard var row = try state.attachment(file.reference), !row.isLive, row.localPath == file.localPath else {
          return
        }
        if keepsRow {
          guard forgetsPath else { return }
          row.localPath = nil
          try state.put(row, now: now)
        } else {
          try state.removeAttachment(file.reference)
        }
      }
    }
    tellWatchers(of: file.reference)
  }

  /// Files under the directory for attachments that no row names: what a crash, or a reset, has left behind. They are the caller's to
  /// delete.
  ///
  /// - Throws: ``SyncErrorCode/store`` for a directory that cannot be read, ``SyncErrorCode/engineUnavailable``.
  /// - Complexity: one look at the directory and at the queue.
  public func strandedFiles() async throws -> [String] {
    try ensureOpen()
    guard let files else { return [] }
    return try await fileGate.pass {
      let named = try read { view in
        var paths: Set<String> = []
        let rows = try view.query(StateTable.attachments).select("local_path").rows()
        while let row = try rows.next() {
          if case .string(let path)? = row["local_path"] { paths.insert(path) }
        }
        return paths
      }
      return try await files.all().filter { !named.contains($0) }
    }
  }
}
