/// What ``SyncClient/reset(keepCopy:)`` did.
public struct LocalResetReport: Hashable, Sendable {
  /// Why the client was blocked; nil: it was not.
  public var reason: SoftBlockReason?
  /// Local writes that the server had not answered and that are gone now, counted by table.
  public var droppedMutations: [String: Int]
  /// Where the erased state was kept, as a store that can be opened; nil if that was not asked for.
  public var keptCopy: String?
  /// Resets of the store before this one, and with it.
  public var epochBefore: UInt64
  public var epochAfter: UInt64
  /// Files of attachments that no row names any more, each once. They are the caller's to delete.
  public var attachmentPaths: [String]
}
