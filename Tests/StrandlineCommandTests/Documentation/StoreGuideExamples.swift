import Strandline
import StrandlineTestSupport
import Testing

/// The Swift code of Docs/Store.md, compiled against what everybody may use, and run.
struct StoreGuideExamples {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }

  // example
  struct Account: Codable, Equatable {
    var name: String
    var balance: Int
    var note: String?
  }

  func open(_ path: String) async throws -> Store {
    let schema = Schema(tables: [
      TableSchema(
        "accounts", key: [KeyColumn("name", .string)],
        columns: [ColumnSchema("balance", .int, isNullable: false), ColumnSchema("note", .string)]),
      TableSchema(
        "orders", key: [KeyColumn("customer", .string), KeyColumn("number", .int)],
        columns: [
          ColumnSchema("state", .string), ColumnSchema("placed", .timestamp), ColumnSchema("total", .decimal),
          ColumnSchema("tags", .array),
        ],
        indexes: [IndexSchema("state", ["state", "placed"])]),
    ])
    var options = StoreOptions()
    options.history = .age(.seconds(30 * 86_400))
    return try await Store.open(at: path, schema: schema, options: options)
  }
  // end

  // example
  struct Overdrawn: Error {}

  func pay(_ amount: Int, from payer: String, to payee: String, in store: Store) async throws {
    try await store.write(metadata: ["actor": "till 4"]) { tx in
      for (name, change) in [(payer, -amount), (payee, amount)] {
        var account = try tx.get(Account.self, .string(name), in: "accounts") ?? Account(name: name, balance: 0)
        account.balance += change
        if account.balance < 0 { throw Overdrawn() }  // nothing of this write stays
        try tx.put(account, into: "accounts")  // what reads behind it in here sees it
      }
    }
  }
  // end

  // example
  func addOrder(_ number: Int64, of customer: String, placed: Int64, to store: Store) async throws -> SequenceNumber {
    try await store.write { tx in
      let order: Row = [
        "customer": .string(customer), "number": .int(number), "state": "open", "placed": .timestamp(placed),
        "total": .decimal("99.95"), "tags": ["gift", "express"],
      ]
      try tx.insert(order, into: "orders")
      return tx.sequence
    }
  }
  // end

  // example
  func close(_ name: String, in store: Store) -> String? {
    do throws(WriteError<StoreError>) {
      try store.write { (tx) throws(StoreError) in
        try tx.update(.string(name), in: "accounts", set: ["note": "closed"])
      }
      return nil
    } catch {
      switch error {
      case .body(.rowMissing): return "there is no account \(name)"
      case .body(let reason), .store(let reason): return reason.description
      }
    }
  }
  // end

  // example
  func annotate(_ name: String, with text: String, seenIn view: ReadView, of store: Store) async throws {
    let seen = try view.sequence(of: .string(name), in: "accounts") ?? .zero  // zero: there was no such row
    try await store.write { tx in
      try tx.expect("accounts", .string(name), sequence: seen)
      try tx.update(.string(name), in: "accounts", set: ["note": .string(text)])
    }
  }
  // end

  // example
  func overdue(in view: ReadView, before time: Int64) throws -> [Row] {
    try view.query("orders")
      .where("state", .equals, "open")
      .where("placed", .lessThan, .timestamp(time))
      .whereAny(of: [.column("total", .greaterThan, 500), .column("tags", .contains, ["gift"])])
      .order(by: "placed").order(by: "total", ascending: false)
      .limit(20)
      .all()
  }
  // end

  // example
  func notOpen(in view: ReadView) throws -> (known: Int, all: Int) {
    let orders = view.query("orders")
    let known = try orders.where("state", .notEquals, "open").count()  // without those that have no state
    let all = try orders.where("state", .isDistinct, "open").count()  // with them
    return (known, all)
  }
  // end

  // example
  func firstPage(of view: ReadView) throws -> (csv: String, plan: String) {
    let page = view.query("orders").select("customer", "number", "total").range(from: 0, through: 9)
    return (try page.csv(), try page.explain().description)
  }
  // end

  // example
  func load(_ orders: [(customer: String, number: Int64, placed: Int64)], into store: Store) async throws {
    let table = try store.view().table("orders")
    let (state, placed) = (try table.column("state"), try table.column("placed"))
    try await store.write { tx in
      var cells = RowCells()
      for order in orders {
        cells.removeAll()
        try cells.set(state, "open")
        try cells.set(placed, .timestamp(order.placed))
        try tx.put(key: [.string(order.customer), .int(order.number)], cells, into: table)
      }
    }
  }

  func newest(in view: ReadView) throws -> Int64? {
    let table = try view.table("orders")
    let placed = try table.column("placed")
    var newest: Int64?
    try view.rows().scan(table) { row in
      if case .timestamp(let time)? = try row.value(of: placed) { newest = max(newest ?? time, time) }
      return true  // false ends the scan
    }
    return newest
  }
  // end

  // example
  func follow(_ store: Store, until total: Int) async throws -> [String: Int] {
    var balances: [String: Int] = [:]
    for try await change in try store.observe(store.query("accounts")) {
      for row in change.went { balances[try row.decoded(Account.self).name] = nil }
      for row in change.came + change.changed {
        let account = try row.decoded(Account.self)
        balances[account.name] = account.balance
      }
      if balances.values.reduce(0, +) >= total { break }
    }
    return balances
  }
  // end

  // example
  func audit(_ store: Store, since position: Position?, until last: SequenceNumber) async throws -> [String] {
    var lines: [String] = []
    for try await commit in store.changes(since: position) {
      if commit.kind == .reset { lines.append("\(commit.position.sequence) reset") }
      for change in commit.rows {
        let actor = commit.metadata["actor"] ?? "\(commit.cause)"
        lines.append("\(commit.position.sequence) \(actor) \(change.row == nil ? "delete" : "put") \(change.table)")
      }
      if commit.position.sequence >= last { break }  // keep `commit.position`: another run goes on behind it
    }
    return lines
  }
  // end

  // example
  func past(of name: String, in store: Store) throws -> (versions: [RowVersion], first: Row?) {
    let versions = try store.history(of: .string(name), in: "accounts")  // the newest first
    guard let first = versions.last else { return ([], nil) }
    return (versions, try store.view(at: first.sequence).get(.string(name), in: "accounts"))
  }

  func orders(rightBehind number: UInt64, in store: Store) throws -> [Row] {
    try store.view(at: SequenceNumber(number)).query("orders").all()
  }
  // end

  // example
  struct Deposited: Codable {
    var amount: Int
  }

  func deposit(_ amount: Int, to name: String, seen version: UInt64, in store: Store) async throws -> UInt64 {
    try await store.write { tx in
      try tx.append(
        Deposited(amount: amount), to: "account-\(name)", expecting: version == 0 ? .new : .version(version))
    }
  }

  func deposits(to name: String, in view: ReadView) throws -> [Int] {
    try view.events(of: "account-\(name)").map { event in
      try RowDecoder().decode(Deposited.self, from: event.get().payload).amount
    }
  }
  // end

  // example
  func project(_ store: Store, until last: SequenceNumber) async throws {
    for try await commit in store.changes() {
      try await store.write { tx in
        guard try tx.place(ofProjection: "deposits") < commit.position.sequence, !commit.events.isEmpty else { return }
        for event in commit.events where event.type == "Deposited" {
          let name = String(event.stream.dropFirst("account-".count))
          var account = try tx.get(Account.self, .string(name), in: "accounts") ?? Account(name: name, balance: 0)
          account.balance += try RowDecoder().decode(Deposited.self, from: event.payload).amount
          try tx.put(account, into: "accounts")
        }
        try tx.setPlace(ofProjection: "deposits", to: commit.position.sequence)
      }
      if commit.position.sequence >= last { break }
    }
  }
  // end

  // example
  func openNextVersion(_ path: String) async throws -> Store {
    let schema = Schema(tables: [
      TableSchema(
        "accounts", key: [KeyColumn("name", .string)],
        columns: [
          ColumnSchema("balance", .decimal, isNullable: false), ColumnSchema("currency", .string, isNullable: false),
          ColumnSchema("remark", .string, renamedFrom: "note"),
        ])
    ])
    let migrations = [
      Migration("accounts", column: "balance", from: .int, to: .decimal) { row in row["balance"] ?? .null },
      Migration("accounts", filling: "currency") { _ in "EUR" },
    ]
    return try await Store.open(at: path, schema: schema, migrations: migrations)
  }
  // end

  // example
  func beginAnew(_ store: Store, backup: String) async throws -> ReadView {
    let copy = try await store.backup(to: backup)
    print("\(copy.path): up to commit \(copy.position.sequence), \(copy.byteCount) bytes")
    let before = try store.view()  // stays readable
    let report = try await store.reset(keepCopy: true)
    print("epoch \(report.epoch): \(report.voidedVersionCount) versions void, copy in \(report.keptCopy ?? "-")")
    return before
  }
  // end

  // example
  struct Operator: StoreObserver {
    func note(_ event: StoreEvent) {
      switch event {
      case .stalled(let nanoseconds): print("a writer waited \(nanoseconds / 1_000_000) ms for compaction")
      case .compactionFailed(let error): print("compaction failed, and is tried again: \(error)")
      case .scrubFound(let finding): print("damage, or a read that fails: \(finding.file)")
      default: break
      }
    }
  }

  func rowCounts(of store: Store) throws -> [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for content in try store.statistics(countsLive: true).contents where content.family == "row" {
      counts[content.table ?? "?"] = content.live?.count
    }
    return counts
  }
  // end

  @Test func `the guide's writes, queries and looks at the past do what it says`() async throws {
    let store = try await open(path)
    try await store.write { tx in try tx.insert(Account(name: "ann", balance: 100), into: "accounts") }
    try await pay(30, from: "ann", to: "bob", in: store)
    await #expect(throws: WriteError<any Error>.self) { try await pay(71, from: "ann", to: "bob", in: store) }
    let paid = try store.view()
    #expect(try paid.get(Account.self, "ann", in: "accounts") == Account(name: "ann", balance: 70))
    #expect(close("bob", in: store) == nil)
    #expect(close("eve", in: store) == "there is no account eve")
    try await annotate("ann", with: "called", seenIn: paid, of: store)
    await #expect(throws: WriteError<any Error>.self) {
      try await annotate("ann", with: "again", seenIn: paid, of: store)
    }
    let ordered = try await addOrder(1, of: "ann", placed: 1000, to: store)
    try await load([("bob", 1, 3000), ("bob", 2, 2000)], into: store)
    try await store.write { tx in try tx.put(["customer": "eve", "number": 1] as Row, into: "orders") }
    let view = try store.view()
    #expect(try overdue(in: view, before: 2000).count == 1)
    #expect(try overdue(in: view, before: 1000).isEmpty)
    #expect(try notOpen(in: view) == (0, 1))
    #expect(try newest(in: view) == 3000)
    let page = try firstPage(of: view)
    #expect(page.csv == "customer,number,total\nann,1,99.95\nbob,1,\nbob,2,\neve,1,\n")
    #expect(page.plan == "read every row of orders\nstop once the answer is decided")
    let past = try past(of: "ann", in: store)
    #expect(past.versions.count == 3 && past.first?["balance"] == 100)
    #expect(try orders(rightBehind: ordered.rawValue, in: store).count == 1)
    #expect(try store.view(at: SequenceNumber(1000)).sequence == view.sequence)
    #expect(try rowCounts(of: store) == ["accounts": 2, "orders": 4])
    let lines = try await audit(store, since: nil, until: ordered)
    #expect(lines.last == "\(ordered) transaction put orders")
    #expect(lines.filter { $0.hasSuffix("till 4 put accounts") }.count == 2)
    #expect(try await follow(store, until: 100) == ["ann": 70, "bob": 30])
    try await store.close()
  }

  @Test func `the guide's streams, projection, reset and migration do what it says`() async throws {
    var store = try await open(path)
    #expect(try await deposit(5, to: "ann", seen: 0, in: store) == 1)
    #expect(try await deposit(6, to: "ann", seen: 1, in: store) == 2)
    await #expect(throws: WriteError<any Error>.self) { try await deposit(7, to: "ann", seen: 1, in: store) }
    #expect(try deposits(to: "ann", in: store.view()) == [5, 6])
    let last = try store.view().sequence
    for _ in 0..<2 { try await project(store, until: last) }
    #expect(try store.view().get(Account.self, "ann", in: "accounts")?.balance == 11)
    // What the guide says of types, of times as numbers and of numbers in JSON.
    try await store.write { tx in
      try tx.append([:], type: "", to: "untyped")
      try tx.put(["customer": "ann", "number": 1, "placed": 5, "total": 3] as Row, into: "orders")
    }
    let now = try store.view()
    #expect(try now.get("ann", 1, in: "orders")?["placed"] == .timestamp(5))
    #expect(try now.get("ann", 1, in: "orders")?["total"] == .decimal("3"))
    #expect(try now.query("orders").where("placed", .lessThan, 6).count() == 1)
    #expect(Value.decimal("18446744073709551615").json == #""18446744073709551615""#)
    let before = try await beginAnew(store, backup: directory.path + "/backup")
    #expect(try deposits(to: "ann", in: before) == [5, 6])
    #expect(try deposits(to: "ann", in: store.view()).isEmpty)
    try await store.close()
    store = try await openNextVersion(directory.path + "/backup")
    let row: Row = ["name": "ann", "balance": .decimal("11"), "currency": "EUR", "remark": .null]
    #expect(try store.view().get("ann", in: "accounts") == row)
    try await store.close()
    var options = StoreOptions()
    options.observer = Operator()
    store = try await Store.open(at: path, options: options)
    try await store.compact()
    try await store.close()
  }
}
