/// The catalogue of a sync client's errors. The raw values are stable and are what logs, scenario files and other hosts say.
@nonexhaustive
public enum SyncErrorCode: String, Hashable, Sendable, CaseIterable {
  /// Downloaded bytes do not have the expected hash.
  case attachmentHashMismatch = "ATTACHMENT_HASH_MISMATCH"
  /// The object is not on the storage yet.
  case attachmentNotYetAvailable = "ATTACHMENT_NOT_YET_AVAILABLE"
  /// The row's owner column is empty.
  case attachmentOwnerMissing = "ATTACHMENT_OWNER_MISSING"
  /// The client has no directory for attachments.
  case attachmentPortsMissing = "ATTACHMENT_PORTS_MISSING"
  /// There is no live row for the file.
  case attachmentRowGone = "ATTACHMENT_ROW_GONE"
  /// The deadline of a transfer passed.
  case attachmentTransferTimeout = "ATTACHMENT_TRANSFER_TIMEOUT"
  /// The storage no longer knows the upload that was to be resumed.
  case attachmentUploadExpired = "ATTACHMENT_UPLOAD_EXPIRED"
  /// No hash is known to check the download with.
  case attachmentUnverified = "ATTACHMENT_UNVERIFIED"
  /// A bucket has no value, or no configured table has such a bucket column.
  case bucketUnset = "BUCKET_UNSET"
  /// The client has to be reset, and that did not happen by itself.
  case clientReset = "CLIENT_RESET"
  /// The configuration was refused.
  case configInvalid = "CONFIG_INVALID"
  /// The client was closed.
  case engineUnavailable = "ENGINE_UNAVAILABLE"
  /// A body, from the wire or stored, cannot be decoded.
  case json = "JSON"
  /// A local rule was broken.
  case localConstraint = "LOCAL_CONSTRAINT"
  /// Not possible locally.
  case localUnsupported = "LOCAL_UNSUPPORTED"
  /// The answer to a push has a shape that no answer has.
  case malformedPushResponse = "MALFORMED_PUSH_RESPONSE"
  /// The server refused for good.
  case permanentTransport = "PERMANENT_TRANSPORT"
  /// A fault of the transport, or a refusal that may pass.
  case remote = "REMOTE"
  /// The token of a reset action was used, replaced, or belongs to another store.
  case resetActionGone = "RESET_ACTION_GONE"
  /// A hard delete on a table that marks rows as deleted.
  case softDeleteViolation = "SOFT_DELETE_VIOLATION"
  /// The store could not be read or written.
  case store = "STORE"
  /// The store is in use by another process.
  case storeBusy = "STORE_BUSY"
  /// The store cannot be opened.
  case storeUnavailable = "STORE_UNAVAILABLE"
  /// A transfer of bytes failed.
  case transfer = "TRANSFER"
  /// The answer to an atomic batch blames a mutation that is not in it.
  case unknownBatchOffender = "UNKNOWN_BATCH_OFFENDER"
  /// An operation other than insert, update and delete.
  case unknownOperation = "UNKNOWN_OP"
  /// A signal other than those there are.
  case unknownSignal = "UNKNOWN_SIGNAL"
  /// No table of that name is configured.
  case unknownTable = "UNKNOWN_TABLE"
  /// A verdict of a kind, or with a reason, other than those there are.
  case unknownVerdictReason = "UNKNOWN_VERDICT_REASON"
  /// The verdicts do not answer the mutations that were sent, one for one and in order.
  case verdictBijection = "VERDICT_BIJECTION"

  /// Whether the same call may succeed later without anybody doing anything.
  public var isRetryable: Bool {
    switch self {
    case .attachmentHashMismatch, .attachmentNotYetAvailable, .attachmentTransferTimeout, .attachmentUnverified,
      .attachmentUploadExpired, .remote, .storeBusy, .transfer:
      true
    default: false
    }
  }
}
