internal import StrandlineProtocol

/// What a failed transfer does to the file's row.
enum TransferEffect: Hashable, Sendable {
  /// Queued again as if it had not been tried.
  case release
  /// Failed.
  case fail(SyncErrorCode, permanently: Bool, dropsSession: Bool)
  /// Queued again, and charged.
  case postpone(SyncErrorCode)

  /// Of an upload's bytes.
  init(upload kind: TransferFailure.Kind) {
    switch kind {
    case .refused(401), .noSession: self = .release
    case .refused(403), .refused(409), .refused(423):
      self = .fail(.transfer, permanently: false, dropsSession: false)
    case .refused(let status): self = .fail(.transfer, permanently: 400..<500 ~= status, dropsSession: false)
    case .unreachable: self = .fail(.transfer, permanently: false, dropsSession: false)
    case .sessionLost: self = .fail(.attachmentUploadExpired, permanently: false, dropsSession: true)
    case .deadline: self = .fail(.attachmentTransferTimeout, permanently: false, dropsSession: false)
    }
  }

  /// Of a download. What is not there yet may still come.
  init(download kind: TransferFailure.Kind) {
    self = kind == .refused(status: 404) ? .postpone(.attachmentNotYetAvailable) : TransferEffect(upload: kind)
  }

  /// Of the confirmation behind an upload: the bytes are there, so it is only tried again.
  init(confirmation kind: TransferFailure.Kind) {
    self = .fail(
      kind == .deadline ? .attachmentTransferTimeout : .transfer, permanently: false, dropsSession: false)
  }
}

extension AttachmentRow {
  mutating func take(_ effect: TransferEffect, _ message: String) {
    switch effect {
    case .release: release()
    case .fail(let code, let isPermanent, let dropsSession):
      fail(code, message, permanently: isPermanent)
      if dropsSession { dropSession() }
    case .postpone(let code): postpone(code, message)
    }
  }
}

/// What a refused or failed deletion of an object does to the file's row.
enum DeletionEffect: Hashable, Sendable {
  /// The object is gone.
  case done
  /// It is not this client's to delete: only the bytes here go.
  case evict
  /// Tried again by a later call.
  case keep

  init(_ kind: TransferFailure.Kind) {
    switch kind {
    case .refused(401), .refused(403): self = .evict
    case .refused(404): self = .done
    default: self = .keep
    }
  }
}
