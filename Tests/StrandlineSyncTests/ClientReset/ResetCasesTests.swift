import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Cases that other engines' users met, in our terms: what both sides agreed on, what was written here and not uploaded, what the server
/// has after its loss, and what a reset makes of it. Numbers are those of Docs/ClientReset.md, "Cases".
struct ResetCasesTests {
  enum Step: Sendable {
    case insert(String, [String: Value])
    case set(String, [String: Value])
    case change(String, [String: Value])
    case delete(String)

    static func union(_ pk: String, _ column: String, _ values: Value...) -> Step {
      .change(pk, [column: ["op": "arrayUnion", "values": .array(values)]])
    }
    static func subtract(_ pk: String, _ column: String, _ values: Value...) -> Step {
      .change(pk, [column: ["op": "arrayRemove", "values": .array(values)]])
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var number: Int
    var base: [String: [String: Value]]
    var steps: [Step]
    /// Nil: the row is gone, with a tombstone.
    var server: [String: [String: Value]?]
    var recovered: [String: [String: Value]]
    /// Nil: what the server has.
    var discarded: [String: [String: Value]]?

    init(
      _ number: Int, _ base: [String: [String: Value]], _ steps: [Step], _ server: [String: [String: Value]?],
      _ recovered: [String: [String: Value]]
    ) {
      self.number = number
      self.base = base
      self.steps = steps
      self.server = server
      self.recovered = recovered
    }

    var testDescription: String { "case \(number)" }
  }

  private static func row(_ value: Value) -> [String: [String: Value]] { ["r": ["v": value]] }
  private static func gone(_ value: Value) -> [String: [String: Value]?] { ["r": ["v": value]] }

  static let cases: [Case] = {
    var cases: [Case] = []
    // Rows and fields.
    cases.append(
      Case(23, row(3), [.set("r", ["v": 4])], gone(6), row(4)))
    cases.append(
      Case(25, ["a": ["v": 1]], [.insert("b", ["v": 2])], ["a": ["v": 9]], ["a": ["v": 9], "b": ["v": 2]]))
    cases.append(
      Case(26, row(3), [.delete("r")], gone(6), [:]))
    cases.append(
      Case(29, row(3), [.set("r", ["v": 4])], ["r": nil, "2": ["v": 42]], ["2": ["v": 42]]))
    cases.append(
      Case(31, row(3), [.insert("s", ["v": 1])], gone(6), ["r": ["v": 6], "s": ["v": 1]]))
    cases.append(
      Case(
        34, ["1": [:], "2": [:], "3": [:]], (4...8).map { .insert("\($0)", [:]) },
        Dictionary(uniqueKeysWithValues: (Array(1...3) + Array(10...14)).map { ("\($0)", [:]) }),
        Dictionary(uniqueKeysWithValues: (Array(1...8) + Array(10...14)).map { ("\($0)", [:]) })))
    cases.append(
      Case(
        37, ["1": ["v": 1], "2": ["v": 2], "3": ["v": 3]],
        [.set("1", ["v": 11]), .set("2", ["v": 12]), .set("3", ["v": 13])],
        ["1": ["v": 0], "2": ["v": 0], "3": ["v": 0]], ["1": ["v": 11], "2": ["v": 12], "3": ["v": 13]]))
    cases.append(
      Case(
        38, ["1": ["v": 1], "2": ["v": 2], "3": ["v": 3]],
        [.set("1", ["v": 9]), .change("2", ["v": ["op": "increment", "by": 10]]), .set("3", ["v": 13])],
        ["1": nil, "2": nil, "3": ["v": 3]], ["3": ["v": 13]]))
    cases.append(
      Case(40, row(3), [], gone(3), row(3)))
    // A tombstone wins over delete, insert, set.
    cases.append(
      Case(43, row(3), [.delete("r"), .insert("r", ["v": 7])], ["r": nil], [:]))
    cases.append(
      Case(
        46, ["a": ["v": 1]], [.insert("b", ["v": 2]), .set("a", ["w": 3])], ["a": ["v": 5], "c": ["v": 1]],
        ["a": ["v": 5, "w": 3], "b": ["v": 2], "c": ["v": 1]]))
    // Lists are one value: the client's wins as a whole.
    cases.append(
      Case(55, row(["a"]), [.set("r", ["v": ["b"]])], gone(["a"]), row(["b"])))
    cases.append(
      Case(56, row(["a"]), [.set("r", ["v": ["b", "a", "b"]])], gone([]), row(["b", "a", "b"])))
    cases.append(
      Case(58, row(["a"]), [.set("r", ["v": []])], gone([]), row([])))
    cases.append(
      Case(59, row(["a"]), [.set("r", ["v": ["a", "a", "b"]])], gone(["a", "b"]), row(["a", "a", "b"])))
    cases.append(
      Case(61, row(["a"]), [.set("r", ["v": ["a", "b", "a"]])], gone(["b", "b", "b"]), row(["a", "b", "a"])))
    cases.append(
      Case(62, row(["a"]), [.set("r", ["v": ["a"]])], gone(["a"]), row(["a"])))
    cases.append(
      Case(67, row([0, 1]), [.set("r", ["v": [1, 4]]), .set("r", ["v": [1, 4, 5]])], gone([8]), row([1, 4, 5])))
    // Sets are arrays with transforms.
    cases.append(
      Case(77, row(["a"]), [], gone(["b"]), row(["b"])))
    cases.append(
      Case(79, row(["a"]), [.union("r", "v", "b")], gone([]), row(["b"])))
    cases.append(
      Case(80, row(["a"]), [.subtract("r", "v", "a")], gone(["a", "b"]), row(["b"])))
    cases.append(
      Case(82, row(["a"]), [.union("r", "v", "b")], gone(["b"]), row(["b"])))
    cases.append(
      Case(83, row(["a"]), [], gone(["a", "b"]), row(["a", "b"])))
    cases.append(
      Case(86, row([1, 2, 3]), [], gone([1, 2, 3]), row([1, 2, 3])))
    cases.append(
      Case(
        88, row([1, 2, 3]), [.subtract("r", "v", 3), .subtract("r", "v", 2), .subtract("r", "v", 1)], gone([1, 2, 3]),
        row([])))
    cases.append(
      Case(89, row([1, 2, 3]), [.subtract("r", "v", 1, 2, 3)], gone([]), row([])))
    cases.append(
      Case(91, row([1, 2, 3]), [.subtract("r", "v", 2)], gone([1, 2, 3]), row([1, 3])))
    cases.append(
      Case(95, row([1, 2, 3]), [.subtract("r", "v", 1)], gone([1, 2]), row([2])))
    cases.append(
      Case(97, row([1, 2, 3]), [], gone([1, 2, 3, 4]), row([1, 2, 3, 4])))
    cases.append(
      Case(98, row([1, 2, 3]), [.union("r", "v", 4)], gone([1, 2, 3, 5]), row([1, 2, 3, 5, 4])))
    cases.append(
      Case(
        100, row([1, 2, 3]), [.union("r", "v", 4), .subtract("r", "v", 4)], gone([1, 2, 3, 5]), row([1, 2, 3, 5])))
    cases.append(
      Case(101, row([1, 2, 3]), [.union("r", "v", 4)], gone([1, 2, 3]), row([1, 2, 3, 4])))
    cases.append(
      Case(104, row([1, 2, 3]), [.set("r", ["v": []])], gone([1, 2, 3]), row([])))
    cases.append(
      Case(107, row([1, 2, 3]), [.set("r", ["v": []]), .union("r", "v", 1)], gone([2]), row([1])))
    cases.append(
      Case(121, row([1, 2, 3]), [.subtract("r", "v", 1), .delete("r")], gone([1, 2, 3, 5]), [:]))
    cases.append(
      Case(122, row([1, 2, 3]), [.union("r", "v", 4), .set("r", ["v": []])], ["r": nil], [:]))
    // Dictionaries whose keys merge one by one are columns.
    cases.append(
      Case(71, ["r": ["hello": "a"]], [.set("r", ["hello": "a"])], ["r": ["hello": "b"]], ["r": ["hello": "a"]]))
    cases.append(
      Case(
        73, ["r": ["hello": "a"]],
        [.set("r", ["hello": .null, "adam": "a", "bernie": "a", "david": "a", "eric": "a", "frank": "b"])],
        ["r": ["hello": .null, "adam": "a", "bernie": "b", "carl": "a", "david": "b", "frank": "a"]],
        [
          "r": [
            "hello": .null, "adam": "a", "bernie": "a", "carl": "a", "david": "a", "eric": "a", "frank": "b",
          ]
        ]))
    cases.append(
      Case(74, ["r": ["hello": "a"]], [.set("r", ["hello": "b"])], ["r": [:]], ["r": ["hello": "b"]]))
    cases.append(
      Case(
        76, ["r": ["hello": "a"]], [.set("r", ["hello": "a"])],
        ["r": ["hello": "a", "world": "b", "foo": "b", "aaa": "a"]],
        ["r": ["hello": "a", "world": "b", "foo": "b", "aaa": "a"]]))
    return cases
  }()

  @Test(arguments: cases, ["recover", "discard"])
  func `what both sides have written ends as the rules say, here and on the server`(_ row: Case, _ word: String)
    async throws
  {
    let test = try await ResetTest.open(try ClientResetMode(text: word))
    for (pk, columns) in row.base { test.server.put(pk, columns) }
    // Something to pull in any case: a store that was never written runs no attempt.
    test.server.put("always", ["x": 1], in: "notes")
    try await test.client.sync()
    for step in row.steps {
      switch step {
      case .insert(let pk, let columns): try await test.insert(pk, columns)
      case .set(let pk, let columns): try await test.update(pk, columns)
      case .change(let pk, let transforms): try await test.update(pk, [:], transforms: transforms)
      case .delete(let pk): try await test.delete(pk)
      }
    }
    test.server.restore(SmallServer.Content())
    test.server.put("always", ["x": 1], in: "notes")
    for (pk, columns) in row.server {
      if let columns { test.server.put(pk, columns) } else { test.server.remove(pk) }
    }
    let expected = word == "recover" ? row.recovered : row.server.compactMapValues { $0 }
    try await test.client.sync()
    #expect(try await test.rows() == expected)
    let served = test.server.now.content.rows.filter { $0.key.table == "todos" }
    #expect(Dictionary(uniqueKeysWithValues: served.map { ($0.key.pk, $0.value.columns) }) == expected)
    #expect(try await test.depth() == 0)
    #expect(try await test.reports().count == 1)
    #expect(test.errors.all.isEmpty)
    // A second run with nothing local changes nothing.
    let sequence = try test.client.read { try $0.metaText(.cursor) }
    try await test.client.sync()
    #expect(try test.client.read { try $0.metaText(.cursor) } == sequence)
    try await test.client.close()
  }

  @Test func `many clients are reset by one restore and converge`() async throws {
    let server = SmallServer()
    for number in 0..<20 { server.put("s\(number)", ["n": .int(Int64(number))]) }
    let count = 20 * min(5, SoakScale.factor)
    var clients: [ResetTest] = []
    for number in 0..<count {
      let mode = try ClientResetMode(text: ["recover", "discard", "recover-or-discard"][number % 3])
      clients.append(try await ResetTest.open(mode, server: server, ids: CountingIDs(from: number * 10_000)))
    }
    server.change { $0.pageRowCount = 50 }
    for client in clients { try await client.client.sync() }
    let backup = server.now.content
    for number in 0..<10 { server.put("lost\(number)", ["n": 1]) }
    for client in clients { try await client.client.sync() }
    for (number, client) in clients.enumerated() {
      try await client.update("s\(number % 20)", ["by": .int(Int64(number))])
      try await client.update("s0", [:], transforms: ["n": ["op": "increment", "by": 1]])
      try await client.insert("c\(number)", ["n": 1])
    }
    server.restore(backup)
    await withTaskGroup(of: Void.self) { group in
      for client in clients { group.addTask { try? await client.client.sync() } }
    }
    for client in clients { try await client.client.sync() }
    for client in clients { try await client.client.sync() }
    let expected = Dictionary(
      uniqueKeysWithValues: server.now.content.rows.map { ($0.key.pk, $0.value.columns) })
    let recovering = (0..<count).filter { $0 % 3 != 1 }.count
    #expect(expected["s0"]?["n"] == .int(Int64(recovering)), "each recovered increment counts once")
    #expect(expected.keys.filter { $0.hasPrefix("c") }.count == recovering)
    for client in clients {
      #expect(try await client.rows() == expected)
      #expect(try await client.reports().count == 1)
      try await client.client.close()
    }
  }

  @Test func `one store's failed reset leaves the others alone`() async throws {
    struct Oops: Error {}
    let server = SmallServer()
    let failing = try await ResetTest.open(.recoverUnsyncedChanges(before: { _ in throw Oops() }), server: server)
    let fine = try await ResetTest.open(server: server, ids: CountingIDs(from: 10_000))
    server.put("a", ["v": 1])
    try await failing.client.sync()
    try await fine.client.sync()
    server.restore()
    #expect(await resetReason { try await failing.client.sync() } == .beforeCallbackFailed)
    try await fine.client.sync()
    try await fine.insert("b", ["v": 2])
    try await fine.client.sync()
    #expect(server.columns("b") == ["v": 2])
    try await failing.client.close()
    try await fine.client.close()
  }
}
