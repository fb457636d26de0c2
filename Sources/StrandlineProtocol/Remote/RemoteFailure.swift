/// Why a call to a remote has no answer. Whether the server has done what was asked is unknown unless it has refused.
public struct RemoteFailure: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// The server, or what stands in front of it, refused. `status` is that of HTTP, where there is one.
    case refused(ErrorAnswer, status: Int?)
    /// Nothing came back: no connection, no answer in time, the connection broke. The error beneath, where there is one.
    case unreachable(reason: String, underlying: (any Error)?)
    /// What came back is larger than this client takes; nothing of it was kept.
    case answerTooLarge(byteCountMax: Int)
    /// What came back is no message of the protocol.
    case undecodable(MessageDefect)
  }

  public var kind: Kind
  public var notes: AnswerNotes

  public init(_ kind: Kind, notes: AnswerNotes = AnswerNotes()) {
    self.kind = kind
    self.notes = notes
  }

  /// The server's code; nil where it gave none.
  ///
  /// A body that is too large (HTTP 413) is ``TransportCode/batchTooLarge`` whatever else came.
  public var code: TransportCode? {
    guard case .refused(let answer, let status) = kind else { return nil }
    return status == 413 ? .batchTooLarge : answer.code
  }

  /// Whether the same request would be refused again. Everything that has no code may pass.
  public var isPermanent: Bool { code?.isPermanent ?? false }

  /// What the client reports: ``SyncErrorCode/permanentTransport``, ``SyncErrorCode/remote`` or ``SyncErrorCode/json``.
  public var errorCode: SyncErrorCode {
    if case .undecodable = kind { return .json }
    return isPermanent ? .permanentTransport : .remote
  }

  public var description: String {
    switch kind {
    case .refused(let answer, let status?): "the server refused with status \(status): \(answer)"
    case .refused(let answer, nil): "the server refused: \(answer)"
    case .unreachable(let reason, _): "the server could not be reached: \(reason)"
    case .answerTooLarge(let byteCountMax):
      "the server's answer is larger than the \(byteCountMax) bytes that are taken; raise answerByteCountMax"
    case .undecodable(let defect): "the server's answer is no message of the protocol: \(defect)"
    }
  }
}
