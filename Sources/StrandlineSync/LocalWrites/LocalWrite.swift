internal import StrandlineProtocol

/// A write as the application asks for it.
struct LocalWrite: Sendable {
  var table: String
  /// Nil: to be made from the columns, or made up.
  var pk: String?
  var operation: MutationOperation
  var columns: [String: Value] = [:]
  var mutationID: String?
  var transforms: [String: Value]?
  var precondition: [String: Value]?
  var batchID: String?
  /// A stamp of the caller's own.
  var hlc: String?
  /// It was queued once before and given up, so the server may have decided it.
  var isRepeated = false
}

/// What the outside gives to the rules of a write.
struct WriteContext: Sendable {
  /// Read once for each write.
  var clock: any SyncClock
  var ids: any IDSource
}
