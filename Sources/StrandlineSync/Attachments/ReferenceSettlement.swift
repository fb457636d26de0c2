internal import StrandlineProtocol

/// What becomes of the file of a reference that nobody names any more.
enum ReferenceSettlement: Hashable, Sendable {
  /// The object on the storage may be deleted, and the bytes here.
  case orphan
  /// The bytes here may be deleted. The object stays: it may be somebody else's, or still be named where this client does not look.
  case evict
  /// Nothing: that was decided before.
  case keep

  /// - Parameters:
  ///   - state: of the file.
  ///   - isKnownFromServer: whether the server has said that its row does not name the reference.
  ///   - referenceOwner: the user in the reference.
  ///   - storeOwner: the user that the store belongs to.
  init(_ state: AttachmentState, isKnownFromServer: Bool, referenceOwner: String?, storeOwner: String?) {
    switch state {
    case .orphaned, .evicted: self = .keep
    default:
      let isOwn = referenceOwner != nil && referenceOwner == storeOwner.map { RowKey.lowercasedUUID($0) }
      self = isKnownFromServer && isOwn ? .orphan : .evict
    }
  }
}
