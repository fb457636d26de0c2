import StrandlineProtocol
import StrandlineTestSupport
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

  @Test("a whole number is its value, however large it is and however it is written")
  func largeDoubles() throws {
    let one: Value = ["op": "increment", "by": 1]
    func json(_ text: String) throws -> Value { try Value.json(text) }
    #expect(try result(one, json("1e19")) == "10000000000000000001")
    #expect(try result(one, json("10000000000000000000")) == "10000000000000000001")
    #expect(try result(one, json("-1e20")) == "-99999999999999999999")
    #expect(try result(one, json("9.223372036854775808e18")) == "9223372036854775809")
    #expect(try result(one, json("9e18")) == "9000000000000000001")
    #expect(try result(["op": "increment", "by": json("1e19")], 1) == "10000000000000000001")
    // 2^1000, to the last digit.
    let power = (0..<1000).reduce(WholeNumber(Value.int(1)) ?? .zero) { sum, _ in sum + sum }
    #expect(try result(["op": "increment", "by": 0], .double(0x1p1000)) == .string(power.description))
    #expect(try result(one, .double(.infinity)) == nil)
    #expect(try result(one, .double(.nan)) == nil)
    #expect(try result(one, 1e-3) == nil)
    #expect(Value.double(1e19).wireText == "10000000000000000000")
    #expect(Value.double(-0.0).wireText == "0")
    #expect(RowKey.component(.double(1e20)) == "100000000000000000000")
  }

  @Test("members are equal as values are on the wire")
  func arrays() throws {
    #expect(try result(["op": "arrayUnion", "values": [2, 3, 3]], [1, 2.0, 1]) == [1, 2.0, 1, 3])
    #expect(try result(["op": "arrayRemove", "values": [1]], [1, 2, 1.0, "1"]) == [2, "1"])
    #expect(try result(["op": "arrayUnion", "values": ["a"]], .null) == ["a"])
    #expect(try result(["op": "arrayRemove", "values": ["a"]], nil) == [])
    #expect(try result(["op": "arrayUnion", "values": ["a"]], "a") == nil)
  }

  /// The dull way: each member is compared with each.
  private func dull(_ transform: String, _ values: [Value], _ cell: [Value]) -> [Value] {
    if transform == "arrayRemove" { return cell.filter { member in !values.contains { $0.equalsOnWire(member) } } }
    return values.reduce(into: cell) { members, value in
      if !members.contains(where: { $0.equalsOnWire(value) }) { members.append(value) }
    }
  }

  @Test("sets of members answer as comparing each with each does", arguments: 0..<200)
  func arraysLikeModel(seed: Int) throws {
    let scalars: [Value] = [
      .null, true, false, 0, 1, -1, 2, 1.0, -0.0, 0.5, .decimal("1"), .decimal("1.0"), .decimal("+01.50"), 1.5,
      .decimal("-0.0"), "1", "true", "", "é", "e\u{301}", .int(.max), .int(.max - 1), .double(0x1p63),
      .decimal("9223372036854775807"), .decimal("9223372036854775808"), .decimal("9223372036854775809"),
      .int(1 << 53), .int(1 << 53 + 1), .double(0x1p53), .decimal("9007199254740993"), 1e19,
      .decimal("10000000000000000000"), .decimal("10000000000000000001"), 0.1, .decimal("0.1"), .decimal("0.10"),
      .decimal("0.1000000000000000055511151231257827021181583404541015625"), .double(.infinity), .double(-.infinity),
      .decimal(String(repeating: "9", count: 400)), .decimal("0" + String(repeating: "9", count: 400)),
      .timestamp(1), .bytes([1]), .double(.nan), .decimal("x"),
    ]
    let bits = SeededBits(seed: UInt64(seed) &+ 1)
    func value(_ depth: Int) -> Value {
      let kind = depth == 0 ? 0 : bits.next() % 8
      if kind == 1 { return .array((0..<bits.next() % 3).map { _ in value(depth - 1) }) }
      if kind == 2 {
        let names = ["a", "é", "e\u{301}", "b"]
        return .object(
          Dictionary((0..<bits.next() % 3).map { _ in (names[Int(bits.next() % 4)], value(depth - 1)) }) { $1 })
      }
      return scalars[Int(bits.next() % UInt64(scalars.count))]
    }
    let cell = (0..<40).map { _ in value(2) }
    let values = (0..<30).map { _ in value(2) }
    for transform in ["arrayUnion", "arrayRemove"] {
      let got = try result(["op": .string(transform), "values": .array(values)], .array(cell))
      #expect(got == .array(dull(transform, values, cell)), "\(transform)")
    }
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
