/// How far a file of the queue has come.
public enum AttachmentState: String, Hashable, Sendable, CaseIterable {
  /// Waits for a transfer.
  case queued
  case uploading
  case downloading
  /// Here and on the storage.
  case synced
  /// The last transfer failed; see ``AttachmentStatus/isPermanent``.
  case failed
  /// No row names it any more: ``SyncClient/vacuum()`` deletes the object on the storage and the file here.
  case orphaned
  /// No row here names it any more: ``SyncClient/vacuum()`` deletes the file here, and leaves the object alone.
  case evicted
  /// There is no such file in the queue. Told to watchers, and never stored.
  case missing

  /// A stored word; nil for one that no stored row may have.
  init?(stored word: String) {
    guard let state = AttachmentState(rawValue: word), state != .missing else { return nil }
    self = state
  }
}
