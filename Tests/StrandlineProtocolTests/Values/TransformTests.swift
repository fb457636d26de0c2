import StrandlineProtocol
import Testing

@Suite("Transforms") struct TransformTests {
  private func result(_ json: Value, _ cell: Value?) throws -> Value? {
    try Transform(json, for: .client).applied(to: cell)
  }

  @Test("sums have no limit, and large ones are texts")
  func increment() throws {
    #expect(try result(["op": "increment", "by": 2], 40) == 42)
    #expect(try result(["op": "increment", "by": -1], nil) == -1)
    #expect(try result(["op": "increment", "by": "1"], .null) == 1)
    #expect(try result(["op": "increment", "by": 1], 2_147_483_647) == "2147483648")
    #expect(try result(["op": "increment", "by": -1], "2147483648") == 2_147_483_647)
    #expect(try result(["op": "increment", "by": "99999999999999999999"], "1") == "100000000000000000000")
    #expect(try result(["op": "increment", "by": "-100000000000000000001"], "1") == "-100000000000000000000")
    #expect(try result(["op": "increment", "by": 1], "01") == nil)
    #expect(try result(["op": "increment", "by": 1], 1.5) == nil)
    #expect(try result(["op": "increment", "by": 1], 2.0) == 3)
    #expect(try result(["op": "increment", "by": 1], true) == nil)
  }

  @Test("members are equal as values are on the wire")
  func arrays() throws {
    #expect(try result(["op": "arrayUnion", "values": [2, 3, 3]], [1, 2.0, 1]) == [1, 2.0, 1, 3])
    #expect(try result(["op": "arrayRemove", "values": [1]], [1, 2, 1.0, "1"]) == [2, "1"])
    #expect(try result(["op": "arrayUnion", "values": ["a"]], .null) == ["a"])
    #expect(try result(["op": "arrayRemove", "values": ["a"]], nil) == [])
    #expect(try result(["op": "arrayUnion", "values": ["a"]], "a") == nil)
  }

  @Test(
    "what is no transform is refused",
    arguments: [
      .null, [:], ["op": "increment"], ["op": "increment", "by": 1.5], ["op": "increment", "by": "1.0"],
      ["op": "increment", "by": "+1"], ["op": "add", "by": 1], ["op": "arrayUnion"],
      ["op": "arrayUnion", "values": "a"],
      ["op": 1, "by": 1],
    ] as [Value])
  func refused(json: Value) { #expect(throws: MessageDefect.self) { try Transform(json, for: .client) } }

  @Test("a server takes less than a client")
  func server() throws {
    let refused: [Value] = [
      ["op": "increment", "by": .null], ["op": "arrayUnion", "values": []], ["op": "arrayUnion", "values": [.null]],
      ["op": "arrayRemove", "values": [[1]]], ["op": "arrayRemove", "values": [["a": 1]]],
    ]
    for json in refused {
      #expect(throws: MessageDefect.self) { try Transform(json, for: .server) }
      _ = try Transform(json, for: .client)
    }
  }
}
