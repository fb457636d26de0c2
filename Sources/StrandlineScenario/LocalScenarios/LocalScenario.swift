/// Calls of a client, one after the other, on a remote that applies everything and has nothing to tell.
struct LocalScenario: Sendable {
  struct Step: Sendable {
    var operation: LocalOperation
    /// What the operation reads and asserts.
    var arguments: MessageMember
    /// Whether the call has to be refused.
    var expectsError: Bool
    /// The code of the refusal; nil: any.
    var expectedCode: String?
  }

  var steps: [Step]

  init(_ scenario: MessageMember) throws(MessageDefect) {
    steps = try scenario.required("steps").list { (step) throws(MessageDefect) in
      let word = try step.required("op")
      guard let operation = LocalOperation(rawValue: try word.text()) else {
        throw MessageDefect(path: word.path, reason: "\"\(try word.text())\" is no operation")
      }
      for name in try step.object().keys where name.hasPrefix("expect_") && !LocalAnswer.expectations.contains(name) {
        throw MessageDefect(path: "\(step.path).\(name)", reason: "is no check")
      }
      return Step(
        operation: operation, arguments: step, expectsError: try step.present("expect_error")?.flag() ?? false,
        expectedCode: try step.present("expect_code")?.text())
    }
  }
}

/// What a local scenario can ask of a client.
enum LocalOperation: String, CaseIterable, Sendable {
  case create
  case apply
  case applyWhere = "apply_where"
  case query
  case outboxDepth = "outbox_depth"
  case rejections
  case checkpoint
  case seedCheckpoint = "seed_checkpoint"
  case setBucket = "set_bucket"
  case sync
  case attachmentPut = "attachment_put"
  case attachmentPatch = "attachment_patch"
  case attachmentPending = "attachment_pending"
  case attachmentFailNext = "attachment_fail_next"
  case attachmentStatus = "attachment_status"
  case attachmentRetry = "attachment_retry"
  case attachmentCancel = "attachment_cancel"
  case attachmentRemove = "attachment_remove"
}
