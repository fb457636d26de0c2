import StrandlineLog
import StrandlineProtocol
import StrandlineTestSupport

@testable import StrandlineServer

/// The server on its disk, and beside it what it has to decide.
final class ServerNode {
  enum Reply<Body: Sendable> {
    case answer(RemoteAnswer<Body>)
    case refused(ErrorAnswer)
    /// The node died at it: whether it was done shows when it is up again.
    case down
  }

  /// What a request did if it was done, and how to see whether it was.
  private struct Doubt {
    var model: DullServer
    var wasDone: (SyncServer) async throws -> Bool
  }

  private unowned let world: World
  private let clock = ManualClock(wallMilliseconds: Schema.start)
  private let bits: SeededBits
  private(set) var model = DullServer()
  private(set) var server: SyncServer?
  private var medium = SimulatedDisk()
  private var disk: FaultyFileSystem
  private var doubt: Doubt?
  private var isReaping = false
  private(set) var hasReaped = false
  /// The highest number that an answer has told.
  private var highestTold: Int64 = 0

  init(_ world: World) {
    self.world = world
    bits = SeededBits(seed: world.seed &* 3 &+ 1)
    disk = FaultyFileSystem(medium)
  }

  var isUp: Bool { server != nil }

  // MARK: Up and down

  func start() async throws {
    while server == nil {
      disk = FaultyFileSystem(medium)
      if world.chance(10) { disk.crash(after: world.draw(1...60)) }
      do {
        let opened = try await open()
        if disk.isCrashed { throw SimulationFailure("crashed") }
        server = opened
      } catch {
        try demand(disk.isCrashed, "the server does not open: \(error)")
        world.note("the server dies while it starts")
        loseMemory()
      }
    }
    disk.heal()
    guard let server else { return }
    if let doubt {
      let wasDone = try await doubt.wasDone(server)
      world.note("what the server was at \(wasDone ? "is done" : "never happened")")
      if wasDone { model = doubt.model }
      self.doubt = nil
    }
    if isReaping { try await reap() }
    try await compare()
  }

  private func open() async throws -> SyncServer {
    let options = StoreSettings.options(disk, clock, bits)
    let (clock, bits) = (clock, bits)
    return try await SyncServer(
      Schema.ofServer(schemaVersionMin: model.schemaVersionMin),
      storage: try await EmbeddedServerStorage.open(at: "/server", options: options),
      environment: ServerEnvironment(now: { clock.wallMilliseconds() }, randomBits: { bits.next() }))
  }

  func die() {
    if server == nil { return }
    world.note("the server dies")
    server = nil
    loseMemory()
  }

  private func loseMemory() {
    medium = world.chance(50) ? medium.kill() : medium.powerLoss(keeping: world.powerLossPolicy())
  }

  /// Stops in order and comes up with a gate for older devices, if it is higher.
  func restart(schemaVersionMin: Int64) async throws {
    do { try await server?.close() } catch { try demand(disk.isCrashed, "the server does not close: \(error)") }
    server = nil
    medium = medium.kill()
    model.schemaVersionMin = max(model.schemaVersionMin, schemaVersionMin)
    try await start()
  }

  func moveClock(by milliseconds: Int64) {
    let limit: Int64 = 20 * 86_400_000
    let moved = clock.wallMilliseconds() + milliseconds
    clock.jumpWall(to: min(max(moved, Schema.start - limit), Schema.start + limit))
  }

  // MARK: Requests

  private func arm() { if !world.isCalm, world.chance(6) { disk.crash(after: world.draw(0...25)) } }

  /// Whether the node has died at what it just did.
  private func hasDied() -> Bool {
    guard disk.isCrashed else {
      disk.heal()
      return false
    }
    world.note("the server dies at it")
    server = nil
    loseMemory()
    return true
  }

  func pull(_ request: PullRequest, as user: String) async throws -> Reply<PullAnswer> {
    guard let server else { return .down }
    arm()
    let found: Reply<PullAnswer>
    do throws(ErrorAnswer) {
      found = .answer(try await server.pull(request, as: Caller(userID: user)))
    } catch {
      found = .refused(error)
    }
    if hasDied() { return .down }
    if case .answer(let answer) = found { try judge(answer.body, to: request, user) }
    return found
  }

  func push(_ request: PushRequest, as user: String) async throws -> Reply<PushAnswer> {
    guard let server else { return .down }
    arm()
    var after = model
    let expected = after.push(request, user, now: clock.wallMilliseconds())
    let sent = forgetful(request)
    let fresh = request.mutations.first { model.decisions[$0.id] == nil && after.decisions[$0.id] != nil }?.id
    let found: Reply<PushAnswer>
    do throws(ErrorAnswer) {
      var answer = try await server.push(sent, as: Caller(userID: user))
      for (index, mutation) in request.mutations.enumerated() { answer.body.verdicts?[index].mutationID = mutation.id }
      found = .answer(answer)
    } catch {
      found = .refused(error)
    }
    if hasDied() {
      if let fresh {
        doubt = Doubt(model: after) { server in
          try await server.read { (state) throws(ServerStorageFailure) in try state.verdict(of: fresh) != nil }
        }
      }
      return .down
    }
    model = after
    switch (expected, found) {
    case (.answer(let expected), .answer(let found)):
      try demand(found.body == expected, "the server answers \(found.body.json.json), not \(expected.json.json)")
    case (.refused(let expected), .refused(let found)):
      try demand(found.code == expected, "the server refuses with \(found), not \(expected)")
    default: throw SimulationFailure("the server says \(found), not \(expected)")
    }
    return found
  }

  /// The request as a server that has forgotten its decisions takes it.
  private func forgetful(_ request: PushRequest) -> PushRequest {
    guard world.fault == .ledgerForgotten else { return request }
    var request = request
    for index in request.mutations.indices where model.decisions[request.mutations[index].id] != nil {
      request.mutations[index].id += "-\(world.next())"
    }
    return request
  }

  /// Writes of the server's owner.
  func write(_ place: Place, _ columns: [String: Value]?) async throws {
    guard let server else { return }
    arm()
    var after = model
    let write: OwnerWrite
    if let columns {
      after.upsert(place, columns)
      write = .upsert(table: place.table, pk: place.pk, columns: columns)
    } else {
      after.remove(place)
      write = .delete(table: place.table, pk: place.pk)
    }
    do throws(ErrorAnswer) { try await server.write([write]) } catch {
      try demand(disk.isCrashed, "the owner's write is refused: \(error)")
    }
    if hasDied() {
      let counter = after.counter
      if counter != model.counter {
        doubt = Doubt(model: after) { server in
          try await server.read { (state) throws(ServerStorageFailure) in try state.counter().highMark == counter }
        }
      }
      return
    }
    model = after
  }

  /// Forgets all tombstones.
  func reap() async throws {
    guard let server else { return }
    isReaping = true
    hasReaped = true
    arm()
    do throws(ErrorAnswer) { try await server.reap(.allTombstones) } catch {
      try demand(disk.isCrashed, "reaping is refused: \(error)")
    }
    if hasDied() { return }
    isReaping = false
    model.reap()
  }

  // MARK: Checks

  /// A page tells what stands, to whom it may be told, and in order.
  private func judge(_ page: PullAnswer, to request: PullRequest, _ user: String) throws {
    switch page.signal {
    case "RESET_REQUIRED":
      return try demand(request.schemaVersion ?? 0 < model.schemaVersionMin, "a reset is demanded without a reason")
    case "CHECKPOINT_EXPIRED":
      return try demand(hasReaped && request.cursor != "0", "a checkpoint expires though nothing was reaped")
    default: break
    }
    let team = request.buckets.first { $0.table == "teams" }?.params["team"]?.wireText ?? ""
    let visible = model.visible(to: user, team: team)
    for entry in page.rows {
      let place = Place(table: entry.table, pk: entry.pk)
      try demand(
        visible[place] == entry.row, "\(user) is sent \(place) as \(text(entry.row)), not \(text(visible[place]))")
    }
    for entry in page.tombstones {
      let place = Place(table: entry.table, pk: entry.pk)
      try demand(visible[place] == nil, "\(user) is told that \(place) is gone, and it is there")
    }
    for numbers in [page.rows.map(\.seq), page.tombstones.map(\.seq)] {
      let numbers = numbers.compactMap { Int64($0) }
      try demand(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "a page is not in the order of numbers")
    }
    if !page.hasMore { highestTold = max(highestTold, Int64(page.cursor) ?? 0) }
  }

  /// What is stored is what was decided; nothing that was told is lost.
  func compare() async throws {
    guard let server else { return }
    let (highMark, rows) = try await server.read { (state) throws(ServerStorageFailure) in
      var rows: [Place: [String: Value]] = [:]
      for place in Places.all {
        rows[place] = try state.row(RowID(table: place.table, pk: place.pk))?.columns
      }
      return (try state.counter().highMark, rows)
    }
    try demand(highMark >= highestTold, "the server told \(highestTold) and has come to \(highMark) only")
    try demand(highMark == model.counter, "the server has drawn \(highMark) numbers, not \(model.counter)")
    for place in Places.all {
      let expected = model.rows[place]?.columns
      try demand(rows[place] == expected, "the server has \(place) as \(text(rows[place])), not \(text(expected))")
    }
  }
}
