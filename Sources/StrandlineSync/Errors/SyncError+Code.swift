extension SyncError {
  /// What an error means to the application. Raw values are stable; those below 100 are Realm's.
  @nonexhaustive
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The protocol was broken, or the server refused a whole request. Log it; update app or server when it stays.
    case clientSessionError = 4
    /// The token is refused although it was renewed: sign in again, ``SyncClient/setAccessToken(_:)``.
    case clientUserError = 5
    /// A stored record outside its vocabulary, or a fault of the engine: report it.
    case clientInternalError = 6
    /// A client reset is needed, or failed: see ``SyncError/resetInfo``.
    case clientResetError = 7
    /// Not used.
    case underlyingAuthError = 8
    /// The caller may not pull or push this. Nothing is deleted.
    case permissionDeniedError = 9
    /// A bucket has no value, or the server does not take what the tables ask for: ``SyncClient/setBucket(_:)``, or mend the tables.
    case invalidSubscription = 10
    /// Writes did not stand, and were undone: ``SyncError/rejections``.
    case writeRejected = 11
    /// The server was not reached, or did not answer in time. Ignore it.
    case connectionFailed = 12
    /// Certificate or TLS: check the certificate and the clock.
    case tlsHandshakeFailed = 13
    /// Reserved: no server of ours sends any.
    case serverWarning = 14
    /// A token of another user came: ``SyncClient/resumeAsOwner()``, or ``SyncClient/reset()`` for the new user.
    case identityChanged = 101
    /// A callback of a client reset failed; the reset stands.
    case resetCallbackFailed = 102
    /// The disk refused: ``SyncError/originalError``. Free space, or open anew.
    case storeFailed = 103
    /// A request or an answer is above a limit, and splitting does not help: split the write.
    case limitExceeded = 104
    /// A call that cannot be: fix it. Thrown to the caller and told to nobody else.
    case invalidUse = 105
    /// A file could not be moved. It stands on the file's row, ``SyncClient/getStatus(_:)``.
    case transferFailed = 106
  }

  /// What there is to do about an error.
  @nonexhaustive
  public enum Action: String, Hashable, Sendable, CaseIterable {
    case none
    /// Nothing: it is tried again by itself.
    case retried
    case signIn
    /// Leave the server's lost history by one of the ways there are.
    case chooseReset
    case updateApplication
    case fixConfiguration
    case freeSpace
    case tellUser
    /// To who makes the application, the server or the engine.
    case report
  }
}
