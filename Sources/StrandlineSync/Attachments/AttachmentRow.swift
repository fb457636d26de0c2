internal import StrandlineProtocol

/// One file of the queue, as `strandline.attachments` has it.
struct AttachmentRow: Sendable {
  var reference: String
  /// Of one import; a file that is put again has another.
  var uploadID: String
  /// The row whose column names the file.
  var name: RowName
  var column: String
  /// Where the object lies on the storage.
  var bucket: String
  var owner: String
  var sha256: String?
  var contentType: String?
  /// In bytes.
  var size: Int64?
  var localPath: String?
  var direction: AttachmentDirection
  var state: AttachmentState
  /// Whether a transfer holds the row.
  var isInFlight = false
  /// What the bytes were that ``sessionURL`` was opened for.
  var fingerprint: String?
  /// 0 to 1.
  var progress: Double = 0
  var attempts: Int64 = 0
  /// Whether nothing is tried any more before a retry.
  var isPermanent = false
  /// Bytes that the session has taken.
  var chunkOffset: Int64 = 0
  var sessionURL: String?
  var error: String?
  var errorCode: String?
  /// Milliseconds since 1970, as the next.
  var createdAt: Int64 = 0
  var updatedAt: Int64 = 0
}

extension AttachmentRow {
  /// Names of all columns of a stored row.
  static let columns: Set<String> = [
    "reference", "upload_id", "table", "pk", "column", "bucket", "owner", "sha256", "content_type", "size",
    "local_path", "direction", "state", "in_flight", "fingerprint", "progress", "attempts", "permanent", "chunk_offset",
    "session_url", "error", "error_code", "created_at", "updated_at",
  ]

  /// Reads a stored row. A column that is not there has its default: older versions did not write all of them.
  ///
  /// - Throws: ``SyncErrorCode/store`` for a state or direction that there is not, ``SyncErrorCode/json`` for anything else amiss.
  init(_ row: Row) throws(SyncError) {
    let cells = StateCells(row, "a file of the queue")
    reference = try cells.text("reference")
    uploadID = try cells.textIfPresent("upload_id") ?? ""
    name = RowName(table: try cells.textIfPresent("table") ?? "", pk: try cells.textIfPresent("pk") ?? "")
    column = try cells.textIfPresent("column") ?? ""
    bucket = try cells.textIfPresent("bucket") ?? ""
    owner = try cells.textIfPresent("owner") ?? ""
    sha256 = try cells.textIfPresent("sha256")
    contentType = try cells.textIfPresent("content_type")
    size = try cells.numberIfPresent("size")
    localPath = try cells.textIfPresent("local_path")
    let way = try cells.textIfPresent("direction") ?? AttachmentDirection.upload.rawValue
    guard let direction = AttachmentDirection(rawValue: way) else {
      throw SyncError(.store, "the file \(reference) has the direction \"\(way)\", which there is not")
    }
    self.direction = direction
    let word = try cells.textIfPresent("state") ?? AttachmentState.queued.rawValue
    guard let state = AttachmentState(stored: word) else {
      throw SyncError(.store, "the file \(reference) has the state \"\(word)\", which there is not")
    }
    self.state = state
    isInFlight = try cells.flagIfPresent("in_flight") ?? false
    fingerprint = try cells.textIfPresent("fingerprint")
    progress = try cells.fractionIfPresent("progress") ?? 0
    attempts = try cells.numberIfPresent("attempts") ?? 0
    isPermanent = try cells.flagIfPresent("permanent") ?? false
    chunkOffset = try cells.numberIfPresent("chunk_offset") ?? 0
    sessionURL = try cells.textIfPresent("session_url")
    error = try cells.textIfPresent("error")
    errorCode = try cells.textIfPresent("error_code")
    createdAt = try cells.numberIfPresent("created_at") ?? 0
    updatedAt = try cells.numberIfPresent("updated_at") ?? 0
  }

  var row: Row {
    var row: Row = [
      "reference": .string(reference), "upload_id": .string(uploadID), "table": .string(name.table),
      "pk": .string(name.pk), "column": .string(column), "bucket": .string(bucket), "owner": .string(owner),
      "direction": .string(direction.rawValue), "state": .string(state.rawValue), "in_flight": .bool(isInFlight),
      "progress": .double(progress), "attempts": .int(attempts), "permanent": .bool(isPermanent),
      "chunk_offset": .int(chunkOffset), "created_at": .int(createdAt), "updated_at": .int(updatedAt),
    ]
    row["sha256"] = sha256.map { .string($0) }
    row["content_type"] = contentType.map { .string($0) }
    row["size"] = size.map { .int($0) }
    row["local_path"] = localPath.map { .string($0) }
    row["fingerprint"] = fingerprint.map { .string($0) }
    row["session_url"] = sessionURL.map { .string($0) }
    row["error"] = error.map { .string($0) }
    row["error_code"] = errorCode.map { .string($0) }
    return row
  }
}

extension StateCells {
  fileprivate func isPresent(_ column: String) -> Bool { !(row[column]?.isNull ?? true) }

  fileprivate func numberIfPresent(_ column: String) throws(SyncError) -> Int64? {
    isPresent(column) ? try number(column) : nil
  }

  fileprivate func flagIfPresent(_ column: String) throws(SyncError) -> Bool? {
    isPresent(column) ? try flag(column) : nil
  }

  fileprivate func fractionIfPresent(_ column: String) throws(SyncError) -> Double? {
    switch row[column] {
    case .double(let number)? where number.isFinite: number
    case .double?: nil
    default: try numberIfPresent(column).map { Double($0) }
    }
  }
}
