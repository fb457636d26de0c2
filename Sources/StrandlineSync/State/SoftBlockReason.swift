/// Why a client makes no requests until something is done about it.
public enum SoftBlockReason: String, Hashable, Sendable, CaseIterable {
  /// The server asks to leave this history, or to come with a newer schema: ``SyncClient/reset()``.
  case resetRequired = "reset_required"
  /// A token of another user than the store's owner came: ``SyncClient/reset()``, or ``SyncClient/resumeAsOwner()`` for the owner.
  case identityChanged = "identity_changed"
}
