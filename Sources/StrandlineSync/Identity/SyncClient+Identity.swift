@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension SyncClient {
  /// The token for requests from now on; nil: nobody is signed in. Kept in memory only.
  ///
  /// The first readable token of a store makes its user the owner. A token of another user blocks syncing
  /// (``SoftBlockReason/identityChanged``); reads and writes go on.
  ///
  /// - Throws: ``SyncErrorCode/engineUnavailable``.
  public func setAccessToken(_ token: String?) async throws {
    try ensureOpen()
    try await sessionGate.pass {
      let signsOut = withMemory { memory in
        defer { memory.session.access.set(token) }
        if let token {
          if let subject = TokenSubject.read(token) { memory.subject = subject }
        } else {
          memory.subject = nil
        }
        return token == nil && memory.token != nil
      }
      sessionChanged()
      if signsOut { endWaits(.signedOut("the user has signed out")) }
      // What the store refuses now is tried again before the next request.
      do { try await settleOwner() } catch let error as CancellationError { throw error } catch {}
    }
  }

  /// Goes on syncing after a token of another user came, now that the token is the owner's again. Nothing is lost by it.
  ///
  /// - Returns: whether there was such a block and the owner is back; false changes nothing.
  /// - Throws: ``SyncErrorCode/store``, ``SyncErrorCode/engineUnavailable``.
  @discardableResult
  public func resumeAsOwner() async throws -> Bool {
    try await sessionGate.pass {
      let subject = withMemory { $0.subject }
      return try await commit(.ownerResumed) { state in
        guard let subject, try state.softBlock() == .identityChanged, try state.metaText(.ownerSubject) == subject
        else {
          return false
        }
        // A demand for a reset that the block lay over is still there.
        let demand = try state.resetDemand()
        try state.setMeta(.softBlockReason, demand.map { _ in .string(SoftBlockReason.resetRequired.rawValue) })
        return true
      }
    }
  }

  // MARK: What every request needs. Called with the session gate held.

  /// Gives the store its identity where it has none, or has that of the store that it is a copy of.
  func keepIdentity() async throws {
    let incarnation = String(store.incarnation, radix: 16)
    let (id, kept) = try read { (try $0.metaText(.clientID), try $0.metaText(.incarnation)) }
    if id != nil, kept == incarnation { return }
    let configured = id == nil ? configuration.clientID.map { RowKey.lowercasedUUID($0) } : nil
    let fresh = configured ?? configuration.ids.uuid()
    try await commit(.identityMinted) { state in
      try state.setMeta(.clientID, .string(fresh))
      try state.setMeta(.incarnation, .string(incarnation))
      // A copy stamps under a name of its own, above all that the original stamped.
      guard id != nil, var stamp = try state.metaText(.originHLC).flatMap({ HybridTimestamp($0) }) else { return }
      stamp.node = configuration.ids.uuid()
      try state.setMeta(.originHLC, .string(stamp.description))
    }
  }

  /// Makes the token's user the owner of a store that has none, or blocks a store of another's.
  func settleOwner() async throws {
    guard let subject = withMemory({ $0.subject }) else { return }
    let (owner, block) = try read { (try $0.metaText(.ownerSubject), try $0.softBlock()) }
    if owner == nil {
      try await recordOwner(subject)
    } else if owner != subject, block != .identityChanged {
      try await commit(.identityChanged) { state in
        if try state.softBlock() != .identityChanged { try state.latch(.identityChanged) }
      }
    }
  }

  private func recordOwner(_ subject: String) async throws {
    let values = ownerBuckets.map { (table: $0.table, column: $0.column, value: subject) }
    try await commit(.ownerRecorded) { state in
      try state.record(values)
      try state.setMeta(.ownerSubject, .string(subject))
    }
    withMemory { memory in for value in values { memory.buckets[value.table] = value.value } }
  }

  /// Tables whose bucket is the owner's, with the column.
  var ownerBuckets: [(table: String, column: String)] {
    tables.all.compactMap { table in
      if case .byOwner(let column) = table.configuration.bucket { (table.name, column) } else { nil }
    }
  }
}
