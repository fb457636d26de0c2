import StrandlineProtocol

/// A wrong decision of the network, the server or a disk that a run has to find. The product has no switches: faults in its own rules are
/// patches in Tests/Mutants.
enum PlantedFault: CaseIterable {
  /// The server forgets what it has decided, and decides a resent mutation again.
  case ledgerForgotten
  /// Pages come without their last row.
  case rowSkipped
  /// Pages come without their last tombstone.
  case tombstoneSkipped
  /// A page has a row of another user.
  case foreignRow
  /// A push that was lost is answered as applied.
  case inventedVerdict
  /// A device that dies forgets its last write.
  case writeForgotten
  /// A device that dies comes up as it was before its last reset.
  case resetUndone
}

extension World {
  func wrong(_ page: PullAnswer) -> PullAnswer {
    var page = page
    switch fault {
    case .rowSkipped: _ = page.rows.popLast()
    case .tombstoneSkipped: _ = page.tombstones.popLast()
    case .foreignRow where page.signal == nil:
      page.rows.append(
        PullAnswer.RowEntry(table: "notes", pk: "k4", row: ["owner": "somebody", "title": "secret"], seq: page.cursor))
    default: break
    }
    return page
  }

  func inventedAnswer(to request: PushRequest) -> RemoteAnswer<PushAnswer>? {
    guard fault == .inventedVerdict else { return nil }
    return RemoteAnswer(body: PushAnswer(verdicts: request.mutations.map { .applied($0.id) }))
  }
}
