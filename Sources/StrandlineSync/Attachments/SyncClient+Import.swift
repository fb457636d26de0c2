internal import StrandlineProtocol

/// A file that was taken into the queue.
public struct ImportedAttachment: Hashable, Sendable {
  /// What the row's column holds now.
  public var reference: String
  /// Of the bytes, 64 digits in lower case.
  public var sha256: String
  /// In bytes.
  public var size: Int64
  public var mediaType: String
  /// Where the client keeps its copy.
  public var localPath: String
}

extension SyncClient {
  /// Takes a copy of a file, queues it for the storage, and writes its reference into a column of a row. A later ``sync()`` sends it.
  ///
  /// The copy is durable, and queued, before the row names it. Files with the same bytes share one copy. Never waits for a running sync.
  ///
  /// - Parameters:
  ///   - table: a table that declares `column` among its attachments.
  ///   - pk: of a row that is there and names its owner; both are UUIDs.
  ///   - sourcePath: a readable file; not looked at again afterwards.
  ///   - mediaType: nil is found out from the ending of the file's name.
  /// - Throws: ``SyncErrorCode/attachmentPortsMissing`` for a client without a directory for attachments, ``SyncErrorCode/unknownTable``,
  ///   ``SyncErrorCode/localConstraint``, ``SyncErrorCode/attachmentRowGone``, ``SyncErrorCode/attachmentOwnerMissing``,
  ///   ``SyncErrorCode/transfer`` for a source that cannot be read, ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``; and what
  ///   an update throws: the file stays behind evicted then.
  /// - Complexity: O(bytes of the file), off the caller's thread; two commits.
  public func fromFile(
    table: String, column: String, pk: String, sourcePath: String, mediaType: String? = nil
  ) async throws -> ImportedAttachment {
    try ensureOpen()
    guard let files else {
      throw SyncError(
        .attachmentPortsMissing, "the client has no directory for attachments; set attachmentRoot and open it again")
    }
    let table = try tables.named(table)
    guard let attachment = table.configuration.attachments[column] else {
      throw SyncError(.localConstraint, "column \(column) of \(table.name) is not declared among its attachments")
    }
    let name = RowName(table: table.name, pk: RowKey.normalized(pk, count: table.key.count))
    let owner = try self.owner(of: name, table, attachment)
    guard let uuid = UUIDBytes(owner)?.description, UUIDBytes(name.pk) != nil else {
      throw SyncError(
        .localConstraint, "the owner and the key of a row with attachments are UUIDs: \"\(owner)\", \"\(name.pk)\"")
    }
    let uploadID = configuration.ids.uuid()
    let digest = try await files.copyIn(sourcePath, as: uploadID)
    let mediaType = mediaType ?? MediaType.ofFile(at: sourcePath)
    let now = configuration.clock.milliseconds()
    var file = AttachmentRow(
      reference: "\(uuid)/\(name.pk)/\(uploadID).\(MediaType.fileExtension(of: mediaType))", uploadID: uploadID,
      name: name, column: column, bucket: attachment.storageBucket, owner: uuid, sha256: digest.sha256,
      contentType: mediaType, size: digest.byteCount, direction: .upload, state: .queued, createdAt: now)
    // Nobody may find the copy in its place, and no row that names it.
    let queued = try await fileGate.pass {
      do {
        file.localPath = try files.keep(uploadID, as: digest.sha256, in: .content)
        let queued = file
        try await commit(.attachmentStep) { state in try state.put(queued, now: now) }
        return queued
      } catch {
        files.dropIncoming(uploadID)
        throw error
      }
    }
    let reference = queued.reference
    do {
      try await apply(
        LocalWrite(table: table.name, pk: name.pk, operation: .update, columns: [column: .string(reference)]))
    } catch {
      // The caller has to hear of the update; a file that stays queued is carried by no row, and never sent. Not to be broken off by the
      // caller's cancellation, which may be what ended the update.
      await Task { try? await commit(.attachmentStep) { state in try state.evict([reference], now: now) } }.value
      tellWatchers(of: reference)
      throw error
    }
    tellWatchers(of: reference)
    return ImportedAttachment(
      reference: reference, sha256: digest.sha256, size: digest.byteCount, mediaType: mediaType,
      localPath: queued.localPath ?? "")
  }

  private func owner(
    of name: RowName, _ table: ClientTable, _ attachment: TableConfiguration.Attachment
  ) throws -> String {
    let row = try read { view in
      try view.get(key: [.string(name.pk)], in: name.table).map { RowImage($0, of: table).answer(name.pk, of: table) }
    }
    guard let row else { throw SyncError(.attachmentRowGone, "table \(name.table) has no row with the key \(name.pk)") }
    guard case .string(let owner)? = row[attachment.ownerColumn], !owner.isEmpty else {
      throw SyncError(
        .attachmentOwnerMissing,
        "column \(attachment.ownerColumn) of the row \(name.pk) of \(name.table) does not name its owner")
    }
    return owner
  }
}
