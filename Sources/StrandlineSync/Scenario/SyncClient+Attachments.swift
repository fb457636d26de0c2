internal import Strandline
internal import StrandlineProtocol

// The queue of files, as scenario files speak of it: its columns have the names of `strandline.attachments`.

extension SyncClient {
  /// Puts a file into the queue as it is given; a column that is left out has its default. Neither the table's declaration nor a file on
  /// disk is asked for. One that is there already is replaced.
  ///
  /// - Throws: ``SyncErrorCode/store`` for a state or direction that there is not, ``SyncErrorCode/json`` for other cells that cannot be.
  @_spi(Scenario) public func attachmentPut(_ cells: [String: Value]) async throws {
    try ensureOpen()
    try Self.checkColumns(cells)
    let now = configuration.clock.milliseconds()
    var file = try AttachmentRow(Row(cells))
    if cells["created_at"] == nil { file.createdAt = now }
    let put = file
    try await commit(.attachmentStep) { state in try state.put(put, now: now) }
    tellWatchers(of: file.reference)
  }

  /// Writes these columns of a file; false: there is no such file.
  ///
  /// - Throws: as ``attachmentPut(_:)``; nothing was changed then.
  @discardableResult
  @_spi(Scenario) public func attachmentPatch(_ reference: String, _ cells: [String: Value]) async throws -> Bool {
    try ensureOpen()
    try Self.checkColumns(cells)
    let now = configuration.clock.milliseconds()
    let isThere = try await commit(.attachmentStep) { state in
      guard var row = try state.attachment(reference)?.row else { return false }
      for (column, cell) in cells where column != "reference" { row[column] = cell }
      try state.put(try AttachmentRow(row), now: now)
      return true
    }
    if isThere { tellWatchers(of: reference) }
    return isThere
  }

  /// How many files a drive could take.
  @_spi(Scenario) public func attachmentPending(_ direction: AttachmentDirection) async throws -> Int {
    try read { try $0.attachmentCandidates(direction).count }
  }

  /// Makes one attempt that fails: claims the file and, where the claim is given, settles it as failed.
  ///
  /// - Returns: whether the claim was given.
  @_spi(Scenario) public func attachmentFailNext(_ reference: String) async throws -> Bool {
    let attemptCountMax = configuration.attachmentAttemptCountMax
    var isGiven = false
    try await step(reference) { file in
      guard file.claim(attemptCountMax: attemptCountMax) == .given else { return }
      isGiven = true
      file.fail(.transfer, "the scenario says so")
    }
    return isGiven
  }

  private static func checkColumns(_ cells: [String: Value]) throws(SyncError) {
    if let stranger = cells.keys.filter({ !AttachmentRow.columns.contains($0) }).min() {
      throw SyncError(.json, "a file of the queue has no column \(stranger)")
    }
  }
}
