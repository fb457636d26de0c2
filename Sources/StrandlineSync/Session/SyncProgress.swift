internal import StrandlineProtocol

/// What a client has moved since it was opened. The rows of a fresh copy count too; files of attachments do not.
public struct SyncProgress: Hashable, Sendable {
  /// Rows and tombstones that came with pulls.
  public internal(set) var downloadedRowCount = 0
  /// Bytes of the bodies that they came in, unpacked; of remotes that have none, 0.
  public internal(set) var downloadedByteCount = 0
  /// Local writes that the server has answered.
  public internal(set) var uploadedRowCount = 0
  /// Bytes of the bodies that they went out in; of remotes that have none, 0.
  public internal(set) var uploadedByteCount = 0

  public init() {}

  mutating func downloaded(_ page: PullAnswer, _ notes: AnswerNotes) {
    downloaded(page.rows.count + page.tombstones.count, notes)
  }

  mutating func downloaded(_ rowCount: Int, _ notes: AnswerNotes) {
    downloadedRowCount += rowCount
    downloadedByteCount += notes.receivedByteCount ?? 0
  }

  mutating func uploaded(_ mutationCount: Int, _ notes: AnswerNotes) {
    uploadedRowCount += mutationCount
    uploadedByteCount += notes.sentByteCount ?? 0
  }
}
