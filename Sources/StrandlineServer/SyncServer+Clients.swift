extension SyncServer {
  /// How long a client may call before it is written down anew that it did.
  private static let registrationMilliseconds: Int64 = 60_000

  /// Notes the client where clients are registered; refuses one that belongs to another user.
  func register(
    _ caller: Caller, _ clientID: String?, cursor: String? = nil, lastMutationID: String? = nil, schemaVersion: Int64?
  ) async throws(ErrorAnswer) {
    guard configuration.registersClients, let clientID else { return }
    guard clientID.storedByteCount <= StorageLimits.clientIDByteCountMax else {
      throw ErrorAnswer(
        code: .invalidParameter,
        message: "client_id: at most \(StorageLimits.clientIDByteCountMax) bytes are taken")
    }
    let now = environment.now()
    func renewed(_ known: RegisteredClient?) throws(ErrorAnswer) -> RegisteredClient? {
      guard let known else {
        return RegisteredClient(
          clientID: clientID, userID: caller.userID, cursor: cursor, lastMutationID: lastMutationID,
          schemaVersion: schemaVersion, lastSeen: now)
      }
      guard known.userID.isSame(as: caller.userID) else {
        throw ErrorAnswer(
          code: .insufficientPrivilege, message: "client_id \"\(clientID)\" belongs to another user. Mint a new one.")
      }
      var client = known
      client.cursor = cursor ?? known.cursor
      client.lastMutationID = lastMutationID ?? known.lastMutationID
      client.schemaVersion = schemaVersion ?? known.schemaVersion
      if client == known, now.subtractingReportingOverflow(known.lastSeen).partialValue < Self.registrationMilliseconds
      {
        return nil
      }
      client.lastSeen = now
      return client
    }
    let known = try await read { (state) throws(ServerStorageFailure) in try state.client(clientID) }
    guard try renewed(known) != nil else { return }
    let refusal: ErrorAnswer? = try await write { (state) throws(ServerStorageFailure) in
      var changes = ServerChanges(time: now)
      let known = try state.client(clientID)
      do throws(ErrorAnswer) {
        if let client = try renewed(known) { changes.clients = [client] }
      } catch {
        return (changes, error)
      }
      return (changes, nil)
    }
    if let refusal { throw refusal }
  }
}
