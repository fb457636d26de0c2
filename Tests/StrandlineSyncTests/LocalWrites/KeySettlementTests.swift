import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct KeySettlementTests {
  private static let lists: [String: TableConfiguration] = [
    "todos": TableConfiguration(), "items": TableConfiguration(key: ["list", "item"]),
    "rooms": TableConfiguration(key: ["number"]),
  ]

  @Test func `a table with key id takes the key of the call, or makes one up, and writes no column`() async throws {
    let test = try await TestClient.open(Self.lists)
    try await test.insert("AB0C9D2E-52D7-4C0B-8A44-7B1D90E2C6F5", ["title": "a"])
    #expect(try await test.columns("ab0c9d2e-52d7-4c0b-8a44-7b1d90e2c6f5") == ["title": "a"])
    try await test.client.from("todos").insert(["title": "b"])
    let rows = try await test.client.from("todos").select().eq("title", "b").rows()
    #expect(rows.count == 1)
    guard case .string(let id)? = rows.first?["id"] else {
      Issue.record("a read fills in the key")
      return
    }
    #expect(UUIDBytes(id) != nil && id == id.lowercased())
    #expect(try await test.columns(id) == ["title": "b"])
  }

  @Test func `a key column that is written stays as it is`() async throws {
    let test = try await TestClient.open(Self.lists)
    try await test.insert("7", ["number": 7, "name": "attic"], in: "rooms")
    #expect(try await test.columns("7", in: "rooms") == ["number": 7, "name": "attic"])
    #expect(await code { try await test.insert("07", ["number": 7], in: "rooms") } == .localConstraint)
    #expect(await code { try await test.insert("8", ["name": "x"], in: "rooms") } == .localConstraint)
    try await test.insert("x", ["id": "x"])
    #expect(try await test.columns("x") == ["id": "x"])
  }

  @Test func `a composite key is the array of its texts`() async throws {
    let test = try await TestClient.open(Self.lists)
    try await test.client.from("items").insert(["list": 1, "item": "3456", "note": "n"])
    let pk = "[\"1\", \"3456\"]"
    #expect(try await test.columns(pk, in: "items") == ["list": 1, "item": "3456", "note": "n"])
    try await test.client.apply(.update, to: "items", pk: "[\"1\",\"3456\"]", columns: ["note": "m"])
    #expect(try await test.columns(pk, in: "items")?["note"] == "m")
    let incomplete: [(columns: [String: Value], missing: String)] = [
      (["list": 1], "item"), (["list": 1, "item": .null], "item"), (["list": true, "item": 2], "list"),
      (["list": "", "item": 2], "list"), (["note": "n"], "list, item"),
    ]
    for (columns, missing) in incomplete {
      let thrown = await #expect(throws: SyncError.self) { try await test.client.from("items").insert(columns) }
      #expect(thrown?.catalogueCode == .localConstraint)
      #expect(thrown?.message.hasSuffix(" in \(missing)") == true)
    }
    #expect(await code { try await test.client.apply(.delete, to: "items", pk: "1") } == .localConstraint)
  }

  @Test func `an update leaves the key alone, whatever the value`() async throws {
    let test = try await TestClient.open(Self.lists)
    try await test.insert("p1", ["id": "p1"])
    #expect(await code { try await test.update("p1", ["id": "p1"]) } == .localConstraint)
    #expect(
      await code { try await test.update("p1", transforms: ["id": ["op": "increment", "by": 1]]) } == .localConstraint)
    #expect(
      await code {
        try await test.client.from("todos").update(["id": "p2"]).eq("title", "no row has it").execute()
      } == .localConstraint)
  }

  @Test func `operands on key columns are compared as keys are written`() async throws {
    let test = try await TestClient.open(Self.lists)
    let id = "ab0c9d2e-52d7-4c0b-8a44-7b1d90e2c6f5"
    try await test.insert(id, ["title": "a", "ref": .string(id.uppercased())])
    let todos = try test.client.from("todos").select()
    #expect(try await todos.eq("id", .string(id.uppercased())).count() == 1)
    #expect(try await todos.in("id", [.string(id.uppercased())]).count() == 1)
    #expect(try await todos.not(.or([.column("id", .equals, .string(id.uppercased()))])).count() == 0)
    #expect(try await todos.eq("ref", .string(id)).count() == 0)
    #expect(try await todos.like("id", id.uppercased()).count() == 0)
  }

  @Test func `a key that is too long is refused`() async throws {
    let test = try await TestClient.open(Self.lists)
    #expect(await code { try await test.insert(String(repeating: "p", count: 2000)) } == .localUnsupported)
  }
}
