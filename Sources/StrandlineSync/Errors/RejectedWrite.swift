internal import StrandlineProtocol

/// A local write that a ``SyncError/Code/writeRejected`` tells of. It was undone; the journal has it too, ``SyncClient/rejections(includeDismissed:)``.
public struct RejectedWrite: Hashable, Sendable {
  public var mutationID: String
  public var table: String
  /// The key's text.
  public var pk: String
  public var kind: Rejection.Kind
  /// The server's word; for a write that was given up, why.
  public var reason: String
  /// Columns that the write set, sorted; none of a delete.
  public var columns: [String]
}

extension SyncError {
  /// Writes that one commit undid, at least one.
  static func rejected(_ writes: [RejectedWrite]) -> SyncError {
    let first = writes.first.map { "the write to \($0.table) of the row \($0.pk): \($0.reason)" } ?? ""
    let more = writes.count > 1 ? ", and \(writes.count - 1) more" : ""
    var error = SyncError(.rejection, nil, "\(first)\(more); what was undone is in the journal of rejections")
    error.rejections = writes
    return error
  }

  /// A token of another user than the store's owner came.
  static var anotherUser: SyncError {
    SyncError(
      .identity, nil,
      "a token of another user came than the one whose data this store holds; sign in as the owner and call "
        + "resumeAsOwner(), or reset() for the new user")
  }
}
