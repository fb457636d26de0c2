internal import StrandlineProtocol

/// What a client does when the server has lost the history that the client's copy belongs to.
///
/// Default is ``recoverUnsyncedChanges(before:after:)``. Callbacks may hop to any actor; see ``ClientView`` for what they are given.
public enum ClientResetMode: Sendable {
  /// Called in front of the switch, with the state as it is; see ``SyncConfiguration/callbackLimit``. What it throws ends the attempt, and
  /// nothing has changed.
  public typealias BeforeReset = @Sendable (_ before: ClientView) async throws -> Void
  /// Called behind the switch and in front of any upload, with the state that was replaced and what became of it; at least once, also
  /// across a crash. What it throws is reported, and the reset stands.
  public typealias AfterReset =
    @Sendable (_ before: ClientView, _ client: SyncClient, _ report: ClientResetReport) async throws -> Void
  /// Nothing happens by itself in this process: the handler gets an error with a token for ``SyncClient/performResetAction(_:)``. A later
  /// process that opens the store performs the action. Queued writes survive in the kept copy only.
  case manual(handler: ErrorHandler? = nil)
  /// The server's state takes the place of the client's; queued writes are dropped.
  case discardUnsyncedChanges(before: BeforeReset? = nil, after: AfterReset? = nil)
  /// The server's state with the queued writes laid over it takes the place of the client's. Where that is impossible: as manual.
  case recoverUnsyncedChanges(before: BeforeReset? = nil, after: AfterReset? = nil)
  /// As ``recoverUnsyncedChanges(before:after:)``; where that is impossible, as ``discardUnsyncedChanges(before:after:)``, in one attempt.
  case recoverOrDiscardUnsyncedChanges(before: BeforeReset? = nil, after: AfterReset? = nil)

  /// The former name of ``discardUnsyncedChanges(before:after:)``.
  @available(*, deprecated, renamed: "discardUnsyncedChanges(before:after:)")
  public static func discardLocal(before: BeforeReset? = nil, after: AfterReset? = nil) -> ClientResetMode {
    .discardUnsyncedChanges(before: before, after: after)
  }

  /// A mode without its callbacks, as logs, records and commands name it.
  public enum Name: String, Hashable, Sendable, Codable, CaseIterable {
    case manual
    case discard
    case recover
    case recoverOrDiscard = "recover-or-discard"
  }

  public var name: Name {
    switch self {
    case .manual: .manual
    case .discardUnsyncedChanges: .discard
    case .recoverUnsyncedChanges: .recover
    case .recoverOrDiscardUnsyncedChanges: .recoverOrDiscard
    }
  }

  /// The mode of a name, for what reads modes from text.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid`` for a handler in a mode that is not manual, and for callbacks in the manual mode.
  public init(
    _ name: Name, before: BeforeReset? = nil, after: AfterReset? = nil, handler: ErrorHandler? = nil
  ) throws(SyncError) {
    if name == .manual, before != nil || after != nil {
      throw SyncError(.configInvalid, "clientReset: the manual mode calls neither before nor after")
    }
    if name != .manual, handler != nil {
      throw SyncError(
        .configInvalid, "clientReset: only the manual mode has a handler; errors of \(name.rawValue) go to errorHandler"
      )
    }
    switch name {
    case .manual: self = .manual(handler: handler)
    case .discard: self = .discardUnsyncedChanges(before: before, after: after)
    case .recover: self = .recoverUnsyncedChanges(before: before, after: after)
    case .recoverOrDiscard: self = .recoverOrDiscardUnsyncedChanges(before: before, after: after)
    }
  }

  /// The mode that a text names.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid``.
  public init(text: String) throws(SyncError) {
    // The former word still means what it did.
    let word = text == "discardLocal" ? Name.discard.rawValue : text
    guard let name = Name(rawValue: word) else {
      let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
      throw SyncError(.configInvalid, "clientReset: \"\(text)\" is no mode; there are \(known)")
    }
    try self.init(name)
  }

  var before: BeforeReset? {
    switch self {
    case .manual: nil
    case .discardUnsyncedChanges(let before, _), .recoverUnsyncedChanges(let before, _),
      .recoverOrDiscardUnsyncedChanges(let before, _):
      before
    }
  }

  var after: AfterReset? {
    switch self {
    case .manual: nil
    case .discardUnsyncedChanges(_, let after), .recoverUnsyncedChanges(_, let after),
      .recoverOrDiscardUnsyncedChanges(_, let after):
      after
    }
  }

  var handler: ErrorHandler? {
    if case .manual(let handler) = self { handler } else { nil }
  }
}
