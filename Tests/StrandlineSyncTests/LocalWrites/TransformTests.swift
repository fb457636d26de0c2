import StrandlineProtocol
@_spi(Scenario) import StrandlineSync
import Testing

struct LocalTransformTests {
  private struct Case {
    var cell: Value?
    var transform: Value
    var result: Value?
  }

  private static let cases: [Case] = [
    Case(cell: 1, transform: ["op": "increment", "by": 2], result: 3),
    Case(cell: nil, transform: ["op": "increment", "by": "5"], result: 5),
    Case(cell: .null, transform: ["op": "increment", "by": .null], result: 0),
    Case(cell: "words", transform: ["op": "increment", "by": 2], result: "words"),
    Case(cell: 1.5, transform: ["op": "increment", "by": 2], result: 1.5),
    Case(cell: "9223372036854775807", transform: ["op": "increment", "by": 1], result: "9223372036854775808"),
    Case(cell: 2_147_483_647, transform: ["op": "increment", "by": 1], result: "2147483648"),
    Case(
      cell: "1234567890123456789012345678901234567890", transform: ["op": "increment", "by": 1],
      result: "1234567890123456789012345678901234567891"),
    Case(cell: nil, transform: ["op": "arrayUnion", "values": ["urgent", "home"]], result: ["urgent", "home"]),
    Case(cell: ["home"], transform: ["op": "arrayUnion", "values": ["home", "x", "x"]], result: ["home", "x"]),
    Case(cell: ["urgent", "home"], transform: ["op": "arrayRemove", "values": ["urgent"]], result: ["home"]),
  ]

  @Test func `transforms do here what they say`() async throws {
    let test = try await TestClient.open()
    for (place, one) in Self.cases.enumerated() {
      let pk = "p\(place)"
      try await test.insert(pk, one.cell.map { ["cell": $0] } ?? [:])
      try await test.update(pk, transforms: ["cell": one.transform])
      #expect(try await test.columns(pk)?["cell"] == one.result, "case \(place)")
    }
    #expect(try await test.client.outboxDepth() == 2 * Self.cases.count)
  }

  @Test(arguments: [
    Value.string("increment"), [:], ["op": "double"], ["op": "increment"], ["op": "increment", "by": 1.5],
    ["op": "increment", "by": "one"], ["op": "arrayUnion"], ["op": "arrayUnion", "values": "x"],
  ])
  func `a malformed transform writes nothing`(_ transform: Value) async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["n": 1])
    #expect(await code { try await test.update("p1", transforms: ["n": transform]) } == .localConstraint)
    #expect(
      await code {
        try await test.client.applyWhere(
          .update, in: "todos", filters: [.column("n", .equals, 99)], transforms: ["n": transform])
      } == .localConstraint)
    #expect(try await test.client.outboxDepth() == 1)
    #expect(await test.eventNames().count == 2)
  }

  @Test func `a transform of arrays on a cell that is none is refused`() async throws {
    let test = try await TestClient.open()
    try await test.insert("p1", ["tags": "urgent"])
    #expect(
      await code { try await test.update("p1", transforms: ["tags": ["op": "arrayUnion", "values": ["x"]]]) }
        == .localConstraint)
    #expect(try await test.client.outboxDepth() == 1)
    #expect(
      await code { try await test.update("p1", ["n": 1], transforms: ["n": ["op": "increment", "by": 1]]) }
        == .localConstraint)
  }

  @Test func `transforms of an insert travel and change nothing here`() async throws {
    let test = try await TestClient.open()
    try await test.client.apply(
      .insert, to: "todos", pk: "p1", columns: ["n": 1], transforms: ["m": ["op": "increment", "by": 1]])
    #expect(try await test.columns("p1") == ["n": 1])
    try await test.client.pushOnce()
    #expect(test.remote.pushRequests[0].mutations[0].transforms == ["m": ["op": "increment", "by": 1]])
  }
}
