import StrandlineProtocol
import StrandlineSync

extension Device {
  // MARK: Network calls

  func sync() async throws { try await performOnNetwork("syncs") { try await $0.sync() } }
  func pullOnce() async throws { try await performOnNetwork("pulls") { try await $0.pullOnce() } }
  func pushOnce() async throws { try await performOnNetwork("pushes") { try await $0.pushOnce() } }

  func reset() async throws {
    if isBusy { return }
    world.count("reset")
    var after = replica
    after.reset()
    let formerID = clientID
    clientID = nil
    switch try await perform("resets", leadingTo: after, { _ = try await $0.reset() }) {
    case .done: if let formerID { formerClientIDs.insert(formerID) }
    case .died: break
    case .failed(let error): throw SimulationFailure("\(name): reset fails with \(error)")
    }
    try await compare("a reset")
  }

  // MARK: Who and what

  func signIn(_ user: String?) async throws {
    token = user.map { Schema.token($0) }
    var after = replica
    after.settle(subject: user)
    let outcome = try await perform("signs \(user.map { "in \($0)" } ?? "out")", leadingTo: after) { client in
      try await client.setAccessToken(token)
    }
    if case .failed(let error) = outcome { throw SimulationFailure("\(name): signing in fails with \(error)") }
  }

  func setTeam(_ team: String) async throws {
    self.team = team
    var after = replica
    after.setTeam(team)
    let outcome = try await perform("takes team \(team)", leadingTo: after) { try await $0.setBucket(["team": team]) }
    if case .failed(let error) = outcome { throw SimulationFailure("\(name): a team is refused with \(error)") }
  }

  // MARK: Out of a block

  /// What an app does that was told to reset.
  func unblock() async throws {
    if isBusy { return }
    if replica.block == .resetRequired, schemaVersion < world.server.model.schemaVersionMin {
      schemaVersion = Int(world.server.model.schemaVersionMin)
      try await reopen()
    }
    if replica.block == .identityChanged, let owner = replica.owner, world.chance(50) {
      try await signIn(owner)
      if replica.block != .identityChanged { return }
      var after = replica
      after.resume()
      let outcome = try await perform("is its owner's again", leadingTo: after) { _ = try await $0.resumeAsOwner() }
      if case .failed(let error) = outcome { throw SimulationFailure("\(name): \(error)") }
      return
    }
    if let subject { switchUser(to: subject) }
    try await reset()
  }

  /// Makes the device one that can sync, whatever it has been through.
  func recover() async throws {
    isConnected = true
    refusalCount = 0
    if schemaVersion < world.server.model.schemaVersionMin {
      schemaVersion = Int(world.server.model.schemaVersionMin)
      try await reopen()
    }
    if subject == nil { try await signIn(replica.owner ?? user) }
    while replica.block != nil { try await unblock() }
  }
}
