/// Why a case failed on one side: where, and what was expected and got.
public struct CaseFailure: Error, Hashable, Sendable {
  /// The `n` of the step; nil where a case has no steps, or behind the last.
  public var step: Int?
  /// What was compared, as in `rpc pull: request`.
  public var subject: String
  /// What is wrong, if no comparison says it.
  public var reason: String?
  public var differences: [JSONDifference]

  init(step: Int? = nil, _ subject: String, _ reason: String) {
    self.step = step
    self.subject = subject
    self.reason = reason
    differences = []
  }

  init(step: Int? = nil, _ subject: String, _ differences: [JSONDifference]) {
    self.step = step
    self.subject = subject
    self.differences = differences
  }

  func at(step number: Int) -> CaseFailure {
    var failure = self
    failure.step = failure.step ?? number
    return failure
  }
}

/// Throws if there are differences.
func expect(_ subject: String, _ differences: [JSONDifference]) throws(CaseFailure) {
  if !differences.isEmpty { throw CaseFailure(subject, differences) }
}

/// Throws if the two differ.
func expect(_ subject: String, _ expected: Value?, got: Value?) throws(CaseFailure) {
  try expect(subject, JSONDifference.all(expected: expected, got: got))
}
