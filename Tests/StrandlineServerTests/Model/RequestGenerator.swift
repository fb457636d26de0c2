import StrandlineServer
import StrandlineTestSupport

/// Draws requests to a small world, so that rows, buckets, ids and cursors meet again and again.
struct RequestGenerator {
  enum Step {
    case push(PushRequest, Caller)
    case pull(PullRequest, Caller)
    case upsert(table: String, pk: String, columns: [String: Value], hlc: String?)
    case delete(table: String, pk: String)
    case reap
    case pass(milliseconds: Int)
    case restart
  }

  static let configuration: ServerConfiguration = {
    let hiding = RowPolicy(
      mayRead: { _, row in row.columns["hidden"] != true },
      mayWrite: { caller, row in row.columns["writer"].map { $0.wireText == caller.userID } ?? true })
    var configuration = ServerConfiguration(tables: [
      "notes": ServerTable(bucketColumn: "owner", keepsJournal: true, deniedColumns: ["locked"]),
      "clocked": ServerTable(bucketColumn: "owner", conflictMode: .hlc, keepsJournal: true, schemaVersionMin: 2),
      "teams": ServerTable(
        bucketColumn: "team", keepsJournal: true,
        privileges: ["guest": ColumnPrivileges(readable: .allBut(["n"]), writable: .allBut(["tags"]))], policy: .open),
      "shared": ServerTable(
        policy: hiding, rule: { row in row.columns["n"].map { Value.order($0, 3) <= 0 } ?? true }),
      "pairs": ServerTable(keyColumns: ["owner", "n"], conflictMode: .hlc),
      "fixed": ServerTable(isPullOnly: true),
    ])
    configuration.limits.pullScanCountMax = 9
    configuration.limits.pageEntryCount = 4
    configuration.limits.mutationCountMax = 6
    configuration.limits.bucketEntryCountMax = 7
    return configuration
  }()

  private static let tables = ["notes", "clocked", "teams", "shared", "pairs", "fixed"]
  private static let users = ["ann", "bob"]
  private static let columns = ["n", "k", "tags", "owner", "team", "hidden", "locked", "writer", "id"]

  private var generator: SeededGenerator
  private var sent: [Mutation] = []
  /// Cursors that answers brought.
  private var cursors: [String] = ["0"]
  private var idCount = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func note(_ answer: PullAnswer) {
    if answer.signal != nil {
      cursors = ["0"]
      return
    }
    cursors.append(answer.cursor)
    if cursors.count > 12 { cursors.remove(at: Int.random(in: 0...6, using: &generator)) }
  }

  mutating func step() -> Step {
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<45:
      let caller = caller()
      return .push(push(caller), caller)
    case 45..<82: return .pull(pull(), caller())
    case 82..<91:
      let table = pick(Self.tables)
      return .upsert(table: table, pk: pk(table), columns: cells(), hlc: chance(50) ? stamp() : nil)
    case 91..<95:
      let table = pick(Self.tables)
      return .delete(table: table, pk: pk(table))
    case 95: return .reap
    case 96, 97: return .pass(milliseconds: Int.random(in: 1...4000, using: &generator))
    default: return .restart
    }
  }

  // MARK: Parts

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &generator)]
  }

  private mutating func caller() -> Caller {
    Caller(userID: pick(Self.users), role: chance(20) ? "guest" : Caller.defaultRole)
  }

  private mutating func pk(_ table: String) -> String {
    if table == "pairs" {
      return RowKey.text(of: [pick(Self.users), pick(["1", "2"])])
    }
    return pick(["a", "b", "c", "d", "e", "7"])
  }

  private mutating func value(_ column: String) -> Value {
    switch column {
    case "owner", "writer": return chance(85) ? .string(pick(Self.users)) : pick([.null, 7, ""])
    case "team": return pick(["red", "blue", 7, "7", .null])
    case "hidden": return .bool(chance(50))
    case "id": return pick(["a", "b", 7, "7"])
    case "tags": return pick([["x"], ["x", "y", "x"], [], .null, "x"])
    default: return pick([1, 2, 3, 4, .double(2), .double(0.5), "2", .null, true, "2147483647", 2_147_483_647])
    }
  }

  private mutating func cells() -> [String: Value] {
    var cells: [String: Value] = [:]
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let column = pick(Self.columns)
      cells[column] = value(column)
    }
    return cells
  }

  private mutating func stamp() -> String {
    let time = TestServer.start + Int64.random(in: 0...60_000, using: &generator)
    return "\(WireTime.text(time))|\(Int.random(in: 0...2, using: &generator))|\(pick(["a", "b"]))"
  }

  private mutating func transforms() -> [String: Value] {
    var transforms: [String: Value] = [:]
    for _ in 0..<Int.random(in: 1...2, using: &generator) {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5: transforms[pick(["n", "k", "id"])] = ["op": "increment", "by": pick([1, -3, "9999999999", "-1"])]
      case 5, 6: transforms["tags"] = ["op": "arrayUnion", "values": pick([["y"], ["x", 1, 1]])]
      case 7, 8: transforms["tags"] = ["op": "arrayRemove", "values": ["x"]]
      default:
        transforms["k"] = pick([["op": "increment"], ["op": "divide"], "x", ["op": "arrayUnion", "values": []]])
      }
    }
    return transforms
  }

  private mutating func mutation(_ caller: Caller) -> Mutation {
    if chance(15), !sent.isEmpty {
      // A resend, or another write under a known id.
      var again = pick(sent)
      if chance(30) { again.columns = cells() }
      return again
    }
    idCount += 1
    let table =
      chance(1) ? pick(["unknown", "fixed"]) : pick(["notes", "notes", "clocked", "teams", "shared", "pairs"])
    var mutation = Mutation(
      id: "m\(idCount)", table: table, pk: pk(table),
      operation: pick(["insert", "insert", "insert", "update", "update", "update", "update", "update", "delete"]),
      columns: cells())
    if mutation.operation == "insert", chance(90) {
      mutation.columns["owner"] = .string(chance(90) ? caller.userID : pick(Self.users))
      if chance(80) { mutation.columns["id"] = nil }
    }
    if mutation.operation == "update", chance(75) {
      for column in ["id", "locked", "owner", "hidden"] { mutation.columns[column] = nil }
      if table == "pairs" {
        mutation.columns["owner"] = nil
        mutation.columns["n"] = nil
      }
    }
    if table == "clocked" || table == "pairs" { mutation.hlc = chance(97) ? stamp() : nil }
    if chance(25) {
      mutation.transforms = transforms()
      if chance(90) { for column in mutation.transforms?.keys.map({ $0 }) ?? [] { mutation.columns[column] = nil } }
    }
    if chance(15) {
      let column = pick(Self.columns)
      mutation.precondition = [column: value(column)]
    }
    if chance(1) { mutation.operation = "upsert" }
    if chance(1) { mutation.id = "" }
    if chance(1) { mutation.pk = pick(["", #"["a"]"#, #"["ann","1"]"#]) }
    sent.append(mutation)
    if sent.count > 60 { sent.removeFirst(20) }
    return mutation
  }

  private mutating func push(_ caller: Caller) -> PushRequest {
    let count = chance(2) ? 7 : Int.random(in: 0...5, using: &generator)
    return PushRequest(
      clientID: "c", schemaVersion: chance(97) ? 2 : pick([nil, 1]), lastMutationID: nil, isAtomic: chance(30),
      mutations: (0..<count).map { _ in mutation(caller) })
  }

  private mutating func pull() -> PullRequest {
    var buckets: [PullRequest.Bucket] = []
    for _ in 0..<(chance(2) ? 8 : Int.random(in: 0...4, using: &generator)) {
      let table = chance(3) ? "unknown" : pick(Self.tables)
      var params: [String: Value] = [:]
      if table == "notes" || table == "clocked" { params["owner"] = .string(pick(Self.users)) }
      if table == "teams" { params["team"] = value("team") }
      if chance(10) {
        let column = pick(Self.columns)
        params[column] = value(column)
      }
      if chance(1) { params = [:] }
      buckets.append(PullRequest.Bucket(table: table, params: params))
    }
    var cursor = chance(50) ? pick(cursors) : cursors[cursors.count - 1]
    if chance(10) { cursor = pick(["0:3", "5~2", "9~1.4.8", "3:9~2", "1", "x", "", "9223372036854775807~7"]) }
    return PullRequest(
      clientID: "c", schemaVersion: chance(97) ? 2 : pick([nil, 1]), cursor: cursor,
      limit: chance(60) ? nil : pick([1, 2, 3, 100, 0]), buckets: buckets)
  }
}
