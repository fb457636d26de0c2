internal import StrandlineSync

/// A server that has all rows of ``SyncRows`` and a history of its own, as after a restore: pages are made as they are asked for, so that
/// nobody holds them, and pushes do not get through.
final class RestoredRemote: Remote, @unchecked Sendable {
  // Sendable: a client asks for one thing at a time.
  static let pageRowCount = 5000

  private let rowCount: Int
  private var next = 0
  private var notes: AnswerNotes

  init(rowCount: Int) {
    self.rowCount = rowCount
    notes = AnswerNotes()
    notes.history = "\(String(repeating: "0", count: 31))1;\(rowCount);0000000000000000"
  }

  func pull(_ request: PullRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PullAnswer> {
    let end = min(next + Self.pageRowCount, rowCount)
    let entries = SyncRows.entries(Array(next..<end), version: 0, from: next + 1)
    next = end
    let number = String(end)
    let hasMore = end < rowCount
    return RemoteAnswer(
      body: PullAnswer(cursor: hasMore ? "0:\(number)" : number, hasMore: hasMore, rows: entries), notes: notes)
  }

  func push(_ request: PushRequest, _ context: RemoteContext) async throws(RemoteFailure) -> RemoteAnswer<PushAnswer> {
    throw RemoteFailure(.unreachable(reason: "the bench ends here", underlying: nil), notes: notes)
  }
}
