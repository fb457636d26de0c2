import StrandlineProtocol
import StrandlineTestSupport

/// A run: devices, a server, and the network between them. One seed decides everything that happens, and everything happens in one task:
/// what comes between a question and its answer happens inside the call that carries it.
///
/// Sendable: that one task, and the calls that it waits for, are all that touch it.
final class World: @unchecked Sendable {
  let seed: UInt64
  private var generator: SeededGenerator
  private(set) var trace: [String] = []
  private(set) var devices: [Device] = []
  let fault: PlantedFault?
  /// Nothing is lost, refused or killed any more.
  private(set) var isCalm = true
  /// Requests within requests.
  private var depth = 0
  /// Requests that were sent, given up by the sender, and are on their way still.
  private var lateRequests: [(request: PushRequest, user: String)] = []
  /// The first broken rule found where only a network failure can be thrown.
  private var failure: (any Error)?
  private var counts: [String: Int] = [:]
  private var node: ServerNode?
  private var drawnCount = 0

  init(seed: UInt64, fault: PlantedFault? = nil) {
    self.seed = seed
    self.fault = fault
    generator = SeededGenerator(seed: seed)
  }

  var server: ServerNode {
    if let node { return node }
    let made = ServerNode(self)
    node = made
    return made
  }

  /// How often what came up.
  var census: [String: Int] { counts }

  // MARK: Chance and notes

  func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
  func chance(_ percent: Int) -> Bool { draw(1...100) <= percent }
  func pick<Element>(_ elements: [Element]) -> Element { elements[draw(0...elements.count - 1)] }
  func bits() -> UInt64 { generator.next() }

  func powerLossPolicy() -> PowerLossPolicy {
    switch draw(1...4) {
    case 1: .dropAll
    case 2: .keepAll
    default: .random(seed: generator.next())
    }
  }

  /// Numbers for ids that nothing else has.
  func next() -> Int {
    drawnCount += 1
    return drawnCount
  }

  func note(_ text: String) { trace.append(String(repeating: "  ", count: depth) + text) }
  func count(_ what: String) { counts[what, default: 0] += 1 }

  func fail(_ error: any Error) { if failure == nil { failure = error } }

  // MARK: A run

  /// - Throws: ``SimulationFailure`` for a broken rule, and what else should not be thrown.
  func run(stepCount: Int) async throws {
    try await begin()
    isCalm = false
    for _ in 0..<stepCount {
      try await step()
      if let failure { throw failure }
    }
    try await settle()
  }

  /// Rows in every bucket, and every user has seen some of each that it may see.
  private func begin() async throws {
    try await server.start()
    for (number, user) in Schema.users.enumerated() {
      let place = { (table: String) in Place(table: table, pk: Places.firstKey(of: user)) }
      try await server.write(place("notes"), ["owner": .string(user), "title": "a", "n": 1])
      try await server.write(place("tasks"), ["owner": .string(user), "title": "b", "n": 2])
      try await server.write(place("teams"), ["team": .string(Schema.teams[number % 2]), "title": "c"])
      try await server.write(place("shared"), ["title": "d", "n": 3])
    }
    for user in Schema.users {
      for team in Schema.teams {
        let buckets = Schema.tables.map { table in
          PullRequest.Bucket(
            table: table,
            params: Schema.bucketColumn(table).map { [$0: .string($0 == "owner" ? user : team)] } ?? [:])
        }
        _ = try await server.pull(
          PullRequest(clientID: nil, schemaVersion: 1, cursor: "0", limit: 500, buckets: buckets), as: user)
      }
    }
    let count = draw(2...4)
    for number in 1...count { devices.append(try await Device.boot(number, user: pick(Schema.users), in: self)) }
  }

  /// Everything heals; after a few rounds of syncing all devices have to hold what the server's model says.
  private func settle() async throws {
    note("quiet")
    isCalm = true
    try await server.start()
    for (request, user) in lateRequests where chance(50) { _ = try await server.push(request, as: user) }
    lateRequests = []
    for device in devices { try await device.recover() }
    var roundCount = 0
    repeat {
      roundCount += 1
      try demand(roundCount < 20, "the devices do not come to rest")
      for device in devices {
        try await device.sync()
        if let failure { throw failure }
      }
    } while devices.contains { !$0.replica.queue.isEmpty }
    for device in devices { try await device.sync() }
    if let failure { throw failure }
    try await server.compare()
    for device in devices { try await device.compareAtRest() }
  }

  // MARK: Between a question and its answer

  /// What happens while a request of `device` is out.
  func interlude(_ device: Device) async throws {
    if isCalm || depth >= 3 || !chance(30) { return }
    depth += 1
    defer { depth -= 1 }
    for _ in 0..<draw(1...2) {
      if failure != nil { return }
      try await step(favouring: device)
    }
  }

  func keepForLater(_ request: PushRequest, _ user: String) {
    lateRequests.append((request, user))
  }

  func deliverLateRequest() async throws {
    if lateRequests.isEmpty { return }
    let request: PushRequest
    var user: String
    (request, user) = lateRequests.remove(at: draw(0...lateRequests.count - 1))
    // Somebody else may have read it, and repeats it under a name of their own.
    if chance(15) { user = pick(Schema.users) }
    note("late: \(request.mutations.map(\.id)) of \(user)")
    count("late request")
    _ = try await server.push(request, as: user)
  }
}
