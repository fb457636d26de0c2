@_spi(Scenario) internal import StrandlineSync

extension LocalHost {
  /// The steps that are for the queue of files.
  enum AttachmentOperation {
    case put
    case patch
    case pending
    case failNext
    case status
    case retry
    case cancel
    case remove
  }

  static func perform(
    _ operation: AttachmentOperation, _ step: MessageMember, _ client: SyncClient
  ) async throws -> LocalAnswer {
    switch operation {
    case .put:
      try await client.attachmentPut(try step.required("attachment").object())
      return .done
    case .patch:
      try await client.attachmentPatch(try reference(step), try step.required("patch").object())
      return .done
    case .pending:
      let word = try step.present("direction")?.text() ?? AttachmentDirection.upload.rawValue
      guard let direction = AttachmentDirection(rawValue: word) else {
        throw CaseFailure("direction", "\"\(word)\" is none")
      }
      return .count(try await client.attachmentPending(direction))
    case .failNext: return .value(.bool(try await client.attachmentFailNext(try reference(step))))
    case .status: return .status(try await client.getStatus(try reference(step)))
    case .retry: return .value(.bool(try await client.attachmentRetry(try reference(step))))
    case .cancel: return .value(.bool(try await client.attachmentCancel(try reference(step))))
    case .remove: return .value(try await client.attachmentRemove(try reference(step)).map { .string($0) })
    }
  }

  private static func reference(_ step: MessageMember) throws -> String { try step.required("reference").text() }
}
