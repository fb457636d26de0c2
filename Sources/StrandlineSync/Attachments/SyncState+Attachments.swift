internal import StrandlineProtocol

extension SyncState {
  /// The file of the queue with a reference; nil: there is none.
  mutating func attachment(_ reference: String) throws -> AttachmentRow? {
    try store.get(key: [.string(reference)], in: StateTable.attachments).map { (row) throws(SyncError) in
      try AttachmentRow(row)
    }
  }

  /// - Parameter now: milliseconds since 1970.
  mutating func put(_ attachment: AttachmentRow, now: Int64) throws {
    var attachment = attachment
    attachment.updatedAt = now
    try store.put(attachment.row, into: StateTable.attachments)
  }

  @discardableResult
  mutating func removeAttachment(_ reference: String) throws -> Bool {
    try store.delete(key: [.string(reference)], from: StateTable.attachments)
  }

  /// Takes one step of one file. False: there is no such file.
  mutating func step(_ reference: String, now: Int64, _ change: (inout AttachmentRow) -> Void) throws -> Bool {
    guard var row = try attachment(reference) else { return false }
    change(&row)
    try put(row, now: now)
    return true
  }

  /// Marks files whose bytes here are wanted no more.
  mutating func evict(_ references: [String], now: Int64) throws {
    for reference in references { _ = try step(reference, now: now) { $0.evict() } }
  }
}

extension ReadView {
  func attachment(_ reference: String) throws -> AttachmentRow? {
    try get(key: [.string(reference)], in: StateTable.attachments).map { (row) throws(SyncError) in
      try AttachmentRow(row)
    }
  }

  /// Files of one state, in the order of their references.
  func attachments(in state: AttachmentState) throws -> [AttachmentRow] {
    try query(StateTable.attachments).where("state", .equals, .string(state.rawValue)).all().map { row in
      try AttachmentRow(row)
    }
  }

  /// What a drive may take, the oldest first.
  func attachmentCandidates(_ direction: AttachmentDirection) throws -> [AttachmentRow] {
    let waiting = try attachments(in: .queued) + attachments(in: .failed)
    return waiting.filter { $0.direction == direction && $0.isCandidate }.sorted { left, right in
      if left.createdAt != right.createdAt { return left.createdAt < right.createdAt }
      return left.reference.utf8.lexicographicallyPrecedes(right.reference.utf8)
    }
  }
}
