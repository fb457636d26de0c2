import StrandlineSync

/// Why a client has stopped syncing, and what leads on.
struct SyncStop: Sendable {
  var reason: SoftBlockReason
  /// Nil: it is no client reset that it waits for.
  var pending: PendingReset?

  /// Nil: the client has not stopped.
  init?(_ client: SyncClient) async throws {
    guard let reason = try await client.checkpoint().softBlockReason else { return nil }
    self.reason = reason
    pending = try await client.pendingReset()
  }

  /// Whether the next round goes on by itself.
  var isPassing: Bool { pending?.next == .sync }

  /// - Parameters:
  ///   - path: of the store.
  ///   - depth: of its queue.
  func line(path: String, depth: Int) -> String {
    guard reason == .resetRequired else {
      return "stopped: the token is another user's; give the owner's and --resume, or for the new user "
        + "`strandline sync reset \(path) --keep-copy`"
    }
    let sync = "`strandline sync \(path)`"
    let reset = "`strandline sync reset \(path) --keep-copy`"
    let writes = HumanUnits.number(depth, of: "queued write")
    switch pending?.next {
    case .sync: return "stopped in a client reset: the next \(sync) goes on with it; nothing was erased"
    case .open: return "stopped: the client reset has failed; the next \(sync) tries once more; nothing was erased"
    case .application:
      let version = pending?.demand.schemaVersion ?? 1
      return "stopped: the server asks for a newer schema version, and this is \(version); nothing was erased. "
        + "\(sync) with --schema-version above \(version) goes on, and takes \(writes) along"
    case .action:
      let copy = pending?.keptCopyPath.map { " \($0)" } ?? ""
      return "stopped: the next \(sync), put or delete begins anew: it keeps a copy\(copy) first, and \(writes) "
        + "will be in that copy only. Until then nothing is erased. \(sync) with --start-reset leaves that, and tries as --client-reset says"
    case .decision:
      return "stopped: the client reset was refused, and nothing goes on by itself; nothing was erased. \(sync) with "
        + "--start-reset tries once more; \(reset) begins anew, with \(writes) in the copy only"
    case nil:
      return "stopped: the server asks for a client reset. \(reset) begins anew, with \(writes) in the copy only"
    }
  }

  /// The field of a pending reset.
  static func write(_ pending: PendingReset?, to json: inout JSONWriter) {
    json.name("pendingReset")
    guard let pending else { return json.null() }
    json.object { json in
      json.field("next", pending.next.rawValue)
      json.field("reason", pending.reason?.rawValue)
      json.field("demand", pending.demand.kind.rawValue)
      json.field("message", pending.demand.message)
      json.field("schemaVersion", pending.demand.schemaVersion)
      json.field("keptCopy", pending.keptCopyPath)
    }
  }
}
