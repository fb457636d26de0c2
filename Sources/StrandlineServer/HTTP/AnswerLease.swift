/// Room for the bytes of one answer, given back when nobody holds the lease any more.
final class AnswerLease: Sendable {
  private let gate: CallGate
  private let user: String
  private let byteCount: Int

  fileprivate init(_ gate: CallGate, _ user: String, _ byteCount: Int) {
    self.gate = gate
    self.user = user
    self.byteCount = byteCount
  }

  deinit { gate.giveBack(byteCount, of: user) }
}

extension CallGate {
  /// Takes room for an answer until its receiver has it; nil where too much lies unread already. A lone answer of a user always has room
  /// among that user's.
  func lease(_ byteCount: Int, of user: String) -> AnswerLease? {
    take(byteCount, of: user) ? AnswerLease(self, user, byteCount) : nil
  }
}
