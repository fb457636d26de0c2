public import StrandlineProtocol

/// How a sync client is opened.
public struct SyncConfiguration: Sendable {
  /// Directory of the store, which is the client's own. Its parent must exist. Nil or `:memory:`: a private one that goes with the client.
  public var storePath: String?
  /// The identity of the device, a UUID. Only the first open of a store takes it; nil makes one up.
  public var clientID: String?
  /// Sent with every request. At least 1.
  public var schemaVersion: Int
  /// By name. A table that is not named is neither pulled nor readable nor writable.
  public var tables: [String: TableConfiguration]
  /// The server.
  public var remote: any Remote
  /// Counts as the first ``SyncClient/setAccessToken(_:)``.
  public var accessToken: String?
  /// Columns that stay on this device: of no request, and not touched by what the server sends.
  public var localOnlyColumns: Set<String>
  /// Directory for the bytes of attachments, made if missing. Needed once a table declares attachments.
  public var attachmentRoot: String?
  /// Transfers that are tried for one attachment. At least 1.
  public var attachmentAttemptCountMax: Int
  /// Moves the bytes of attachments; nil: files are queued and stay so.
  public var transfer: (any TransferPort)?
  /// Entries of a page that the server is asked for; nil leaves it to the server. At least 1.
  public var pageLimit: Int?
  /// Runs what delivers events and errors; nil: a serial queue of the client's own. Whatever it is, one delivery at a time is handed to it.
  public var deliverOn: (@Sendable (_ delivery: @escaping @Sendable () -> Void) -> Void)?
  /// What to do when the server has lost the history that the client's copy belongs to.
  public var clientReset: ClientResetMode
  /// What is kept of the state that a client reset replaced.
  public var keptCopies: KeptCopyPolicy
  /// How long a client reset waits for one of its callbacks, by the monotonic clock; nil: for ever.
  public var callbackLimit: Duration?
  /// The first ``SyncClient/errorHandler``.
  public var errorHandler: ErrorHandler?
  /// Takes one line for each error that no handler is there for; nil: they go to the standard error output.
  public var log: (@Sendable (_ line: String) -> Void)?
  /// How the store is run. Retention of history is what ``SyncClient/changes(since:)`` and ``SyncClient/view(at:)`` reach back by.
  public var storeOptions: StoreOptions
  public var clock: any SyncClock
  public var ids: any IDSource
  /// Whether opening performs a reset action of an earlier process; off for who only looks.
  @_spi(Engine) public var performsResetActions = true

  public init(
    storePath: String? = nil, clientID: String? = nil, schemaVersion: Int = 1, tables: [String: TableConfiguration],
    remote: any Remote, accessToken: String? = nil, localOnlyColumns: Set<String> = [], attachmentRoot: String? = nil,
    attachmentAttemptCountMax: Int = 5, transfer: (any TransferPort)? = nil, pageLimit: Int? = nil,
    deliverOn: (@Sendable (_ delivery: @escaping @Sendable () -> Void) -> Void)? = nil,
    clientReset: ClientResetMode = .recoverUnsyncedChanges(), keptCopies: KeptCopyPolicy = KeptCopyPolicy(),
    callbackLimit: Duration? = .seconds(60), errorHandler: ErrorHandler? = nil,
    log: (@Sendable (_ line: String) -> Void)? = nil,
    storeOptions: StoreOptions = StoreOptions(),
    clock: any SyncClock = MachineClock(), ids: any IDSource = RandomIDs()
  ) {
    self.storePath = storePath
    self.clientID = clientID
    self.schemaVersion = schemaVersion
    self.tables = tables
    self.remote = remote
    self.accessToken = accessToken
    self.localOnlyColumns = localOnlyColumns
    self.attachmentRoot = attachmentRoot
    self.attachmentAttemptCountMax = attachmentAttemptCountMax
    self.transfer = transfer
    self.pageLimit = pageLimit
    self.deliverOn = deliverOn
    self.clientReset = clientReset
    self.keptCopies = keptCopies
    self.callbackLimit = callbackLimit
    self.errorHandler = errorHandler
    self.log = log
    self.storeOptions = storeOptions
    self.clock = clock
    self.ids = ids
  }
}
