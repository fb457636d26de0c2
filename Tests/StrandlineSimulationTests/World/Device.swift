import StrandlineProtocol
import StrandlineTestSupport

@testable import StrandlineSync

/// A device: a client on its disk, the app above it, and beside it what the client has to hold.
///
/// Sendable: as ``World``.
final class Device: @unchecked Sendable {
  let name: String
  let number: Int
  unowned let world: World
  let clock = ManualClock(wallMilliseconds: Schema.start)
  private let bits: SeededBits
  private let ids: SeededIDs

  // What the app knows.

  private(set) var user: String
  var token: String?
  var team: String
  var schemaVersion = 1

  // The machine.

  private var medium = SimulatedDisk()
  private(set) var disk: FaultyFileSystem
  private(set) var client: SyncClient?
  /// Counts the processes that this device has had. What belongs to an earlier one counts for nothing.
  private(set) var life = 0
  /// The life whose client has a network call at work.
  private var busyLife = 0
  var isConnected = true
  /// Pushes that something between here and the server refuses for good.
  var refusalCount = 0

  /// The disk that a planted fault comes up with.
  private var forgotten: SimulatedDisk?

  // The model.

  var replica = DullReplica()
  /// The owner in front of the last network call, which may record one.
  private(set) var ownerBefore: String?
  /// What the client was just given, and takes before it asks again.
  var given: Given?
  /// What the client gives up, as its events tell.
  private var givenUp: [(id: String, reason: String)] = []
  /// Refusals for good of what was sent alone or as a batch, by the first id.
  var refusals: [String: Int] = [:]
  var clientID: String?
  var formerClientIDs: Set<String> = []

  struct Given {
    var change: (inout DullReplica) -> Void
    /// What has to hold once it was taken.
    var check: ((DullReplica) throws -> Void)?
  }

  private init(_ number: Int, user: String, team: String, _ world: World) {
    self.number = number
    self.user = user
    self.team = team
    self.world = world
    disk = FaultyFileSystem(medium)
    name = "d\(number)"
    bits = SeededBits(seed: world.seed &* 31 &+ UInt64(number))
    ids = SeededIDs(seed: world.seed &* 37 &+ UInt64(number))
  }

  static func boot(_ number: Int, user: String, in world: World) async throws -> Device {
    let device = Device(number, user: user, team: world.pick(Schema.teams), world)
    try await device.open(candidates: [device.replica])
    try await device.signIn(user)
    return device
  }

  var isBusy: Bool { busyLife == life }

  // MARK: Opening

  /// Starts a process: opens the client on what the disk holds, which must be one of `candidates`.
  private func open(candidates: [DullReplica], hasDied: Bool = true) async throws {
    var hasDied = hasDied
    life += 1
    given = nil
    var opened: SyncClient?
    while opened == nil {
      disk = FaultyFileSystem(medium)
      if !world.isCalm, world.chance(10) { disk.crash(after: world.draw(0...60)) }
      do {
        let client = try await SyncClient.open(configuration())
        if !disk.isCrashed { opened = client }
      } catch {
        try demand(disk.isCrashed, "\(name) does not open: \(error)")
      }
      if disk.isCrashed {
        world.note("\(name) dies while it opens")
        hasDied = true
        losePower()
      }
    }
    disk.heal()
    client = opened
    let life = life
    opened?.on { [weak self] event in self?.hear(event, life) }
    try await recognise(candidates, hasDied: hasDied)
    // What the app does first.
    try await setTeam(team)
    if token != nil { try await signIn(token.flatMap { Schema.user(of: $0) }) }
  }

  private func configuration() -> SyncConfiguration {
    var configuration = SyncConfiguration(
      storePath: "/store", schemaVersion: schemaVersion, tables: Schema.ofClients,
      remote: SimulatedRemote(world: world, device: number, life: life), pageLimit: 3, clock: DeviceClock(clock: clock),
      ids: ids)
    // On the caller's own thread: a run has one order.
    configuration.deliverOn = { $0() }
    configuration.storeOptions = StoreSettings.options(disk, clock, bits)
    configuration.log = { _ in }
    return configuration
  }

  private func losePower() {
    if let forgotten {
      medium = forgotten
      self.forgotten = nil
    }
    medium = world.chance(50) ? medium.kill() : medium.powerLoss(keeping: world.powerLossPolicy())
  }

  /// Ends the process, with a request out or not, and starts another.
  func die() async throws {
    world.note("\(name) dies")
    world.count("device died")
    try await revive(candidates: [replica])
  }

  private func revive(candidates: [DullReplica]) async throws {
    losePower()
    try await open(candidates: candidates)
  }

  /// Closes the client in order and opens it again, as the version of the app that it is now.
  func reopen() async throws {
    if isBusy { return }
    world.note("\(name) is closed and opened")
    do { try await client?.close() } catch { throw SimulationFailure("\(name) does not close: \(error)") }
    medium = medium.kill()
    try await open(candidates: [replica], hasDied: false)
  }

  func compact() async throws {
    if isBusy { return }
    _ = try await perform("compacts") { try await $0.store.compact() }
  }

  func moveClock(by milliseconds: Int64) { clock.jumpWall(to: clock.wallMilliseconds() + milliseconds) }

  // MARK: Calls

  enum Outcome {
    case done
    case failed(SyncError)
    /// The process died at it; another one runs.
    case died
  }

  /// Makes one call of the client, at which the process may die.
  ///
  /// - Parameter after: what the client holds if the call was done.
  func perform(
    _ what: String, leadingTo after: DullReplica? = nil, _ body: (SyncClient) async throws -> Void
  ) async throws -> Outcome {
    world.note("\(name) \(what)")
    guard let client else { throw SimulationFailure("\(name) is not open") }
    let life = life
    switch world.fault {
    case .writeForgotten where what.contains(" by m"): forgotten = medium.kill()
    case .writeForgotten: forgotten = nil
    case .resetUndone where what == "resets": forgotten = medium.kill()
    default: break
    }
    if !world.isCalm, world.chance(5) { disk.crash(after: world.draw(0...25)) }
    var failure: SyncError?
    do {
      try await body(client)
    } catch {
      failure = SyncError.thrown(for: error) as? SyncError
    }
    if life != self.life { return .died }
    if disk.isCrashed {
      world.note("\(name) dies at it")
      world.count("device died at a call")
      var candidates = [replica]
      if let after { candidates.append(after) }
      if let given {
        var taken = replica
        given.change(&taken)
        candidates.append(taken)
      }
      try await revive(candidates: candidates)
      return .died
    }
    disk.heal()
    if let failure { return .failed(failure) }
    if let after { replica = after }
    return .done
  }

  /// A call that waits for the network, by the only such call at work.
  func performOnNetwork(_ what: String, _ body: (SyncClient) async throws -> Void) async throws {
    if isBusy { return }
    // An app that has come with the schema that was asked for is reset by its next run, which keeps the queue (ClientResetTests). This
    // one does so itself.
    if replica.block == .resetRequired, schemaVersion > 1 { return try await reset() }
    let life = life
    busyLife = life
    ownerBefore = replica.owner
    replica.settle(subject: subject)
    let outcome = try await perform(what, body)
    if busyLife == life { busyLife = 0 }
    if case .died = outcome { return }
    try takeGiven()
    if case .failed(let error) = outcome {
      world.note("\(name) is told \(error.catalogueCode?.rawValue ?? "\(error)")")
      let isExpected =
        switch error.catalogueCode {
        case .remote, .permanentTransport: true
        case .bucketUnset: subject == nil
        default: false
        }
      try demand(isExpected, "\(name): \(what) fails with \(error)")
    }
    try await compare(what)
  }

  /// The client asks again, or has ended its call: it has taken what it was given.
  func takeGiven() throws {
    guard let given else { return }
    self.given = nil
    given.change(&replica)
    try given.check?(replica)
  }

  /// Whom the client takes for signed in.
  var subject: String? { token.flatMap { Schema.user(of: $0) } }

  func switchUser(to user: String) { self.user = user }

  // MARK: Events

  private func hear(_ event: SyncEvent, _ life: Int) {
    if life != self.life { return }
    switch event {
    case .deadLetter(let id, let reason): givenUp.append((id, reason))
    case .localChanged:
      guard let first = givenUp.first else { return }
      let ids = givenUp.map(\.id)
      givenUp = []
      do {
        try takeGiven()
        try judge(givingUp: ids)
        replica.giveUp(ids, reason: first.reason)
        world.note("\(name) gives up \(ids)")
        world.count("dead letter")
      } catch {
        world.fail(error)
      }
    default: break
    }
  }

  /// Only what was refused for good five times is given up, or a batch that is too large.
  private func judge(givingUp ids: [String]) throws {
    let head = replica.queue.prefix(ids.count)
    try demand(head.map(\.id) == ids, "\(name) gives up \(ids), and its queue begins with \(head.map(\.id))")
    let isTooLarge = head.count > Schema.mutationCountMax && head[0].batch != nil
    try demand(isTooLarge || refusals[ids[0], default: 0] >= 5, "\(name) gives up \(ids) too early")
  }
}
