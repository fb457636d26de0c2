internal import StrandlineProtocol

/// How an attempt ends without a switch: the failure table of Docs/ClientReset.md.
enum AttemptEnd: Error {
  /// F9.
  case cancelled(dropsStaging: Bool)
  /// F4n: what ends the run; the copy goes on with the next one.
  case postponed(any Error)
  /// F4g.
  case gated(ClientResetDemand)
  /// F3, F10, F11.
  case storage(any Error, dropsStaging: Bool)
  case failed(Failure)

  struct Failure {
    var reason: ClientResetInfo.Reason
    var message: String
    var underlying: (any Error)?
    /// In which mode the guard holds it against another try; nil: in none.
    var counted: ResetRecord.Running?
    /// Whether an action is offered.
    var hasAction = true
    /// Whether the first open by a later process performs it.
    var isAutomatic = false
    var dropsStaging = false
  }
}
