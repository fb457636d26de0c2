import StrandlineServer
import Testing

@Suite("Checks of a whole push") struct PushChecksTests {
  @Test("a push whose verdicts no client would take is refused as a whole; half of it is taken")
  func answerBytes() async throws {
    var configuration = ServerConfiguration(tables: ["notes": ServerTable(bucketColumn: "owner")])
    configuration.limits.answerByteCountMax = 10_000
    let test = try await TestServer(configuration)
    try await test.own("notes", "a", ["owner": "ann", "n": 0, "text": .string(String(repeating: "x", count: 3000))])
    func increments(_ numbers: Range<Int>) -> [Mutation] {
      numbers.map { number in
        .update("m\(number)", "a").with { $0.transforms = ["n": ["op": "increment", "by": 1]] }
      }
    }
    for isAtomic in [false, true] {
      #expect(await refusal { try await test.push(increments(0..<4), isAtomic: isAtomic) } == .batchTooLarge)
    }
    #expect(try await test.server.row("a", in: "notes")?["n"] == 0)
    #expect(try await test.highMark == 1)
    #expect(try await test.push(increments(0..<3)).verdicts?.count == 3)
    #expect(try await test.push(increments(3..<4)).verdicts?.count == 1)
    #expect(try await test.server.row("a", in: "notes")?["n"] == 4)
    // Answered before is no way around it.
    #expect(await refusal { try await test.push(increments(0..<4)) } == .batchTooLarge)
    // Rejections carry the row as well; an abort carries one, whatever its members would have.
    let denied = increments(0..<4).map { mutation in
      mutation.with {
        $0.id = "r-\(mutation.id)"
        $0.precondition = ["n": -1]
      }
    }
    #expect(await refusal { try await test.push(denied) } == .batchTooLarge)
    #expect(try await test.push(denied, isAtomic: true).abort?.reason == "PRECONDITION")
    // One alone is always answered.
    configuration.limits.answerByteCountMax = 1
    let narrow = try await TestServer(configuration)
    #expect(try await narrow.push([.insert("m", "a", ["owner": "ann"])]).verdicts?.count == 1)
    let increment = Mutation.update("i", "a").with { $0.transforms = ["n": ["op": "increment", "by": 1]] }
    #expect(try await narrow.push([increment]).verdicts?.first?.serverRow?["n"] == 1)
  }

  private func server(_ change: (inout ServerConfiguration) -> Void = { _ in }) async throws -> TestServer {
    var configuration = ServerConfiguration(tables: [
      "notes": ServerTable(schemaVersionMin: 1), "strict": ServerTable(schemaVersionMin: 5),
      "fixed": ServerTable(isPullOnly: true), "clocked": ServerTable(conflictMode: .hlc),
      "pairs": ServerTable(keyColumns: ["list", "n"], keyTypes: [.uuid, .int]),
    ])
    change(&configuration)
    return try await TestServer(configuration)
  }

  @Test("the schema gate goes by the tables of the mutations, and by all when none is known")
  func schemaGate() async throws {
    let test = try await server()
    let signal = PushAnswer(signal: .resetRequired)
    #expect(try await test.push([.insert("m1", "a")], version: 1) == PushAnswer(verdicts: [.applied("m1")]))
    #expect(try await test.push([.insert("m2", "a")], version: 0) == signal)
    #expect(try await test.push([.insert("m3", "a")], version: nil) == signal)
    #expect(try await test.push([.insert("m4", "a"), .insert("m5", "a", in: "strict")], version: 4) == signal)
    #expect(try await test.push([.insert("m6", "a", in: "unknown")], version: 4) == signal)
    #expect(try await test.push([], version: 4) == signal)
    #expect(try await test.push([], version: 5) == PushAnswer(verdicts: []))
    #expect(
      await refusal { try await test.push([.insert("m7", "a", in: "unknown")], version: 5) } == .featureNotSupported)
    // Before everything else.
    let broken = Mutation(id: "", table: "notes", pk: "", operation: "merge")
    #expect(try await test.push([broken], version: 0) == signal)
  }

  @Test("too many mutations, then atomic, then tables, then the form of each")
  func order() async throws {
    let test = try await server {
      $0.limits.mutationCountMax = 2
      $0.demandsAtomicPushes = true
    }
    let malformed = Mutation(id: "", table: "notes", pk: "a", operation: "insert")
    let unknown = Mutation.insert("m", "a", in: "unknown")
    let pullOnly = Mutation.insert("m", "a", in: "fixed")
    func code(_ mutations: [Mutation], isAtomic: Bool = true) async -> TransportCode? {
      await refusal { try await test.push(mutations, isAtomic: isAtomic, version: 9) }
    }
    #expect(await code([malformed, unknown, pullOnly], isAtomic: false) == .batchTooLarge)
    #expect(await code([malformed, unknown], isAtomic: false) == .atomicRequired)
    #expect(await code([malformed, unknown]) == .featureNotSupported)
    #expect(await code([pullOnly, unknown]) == .featureNotSupported)
    #expect(await code([malformed, pullOnly]) == .tableIsPullOnly)
    #expect(await code([malformed]) == .invalidParameter)
    #expect(try await test.highMark == 0)
  }

  static let malformed: [(String, Mutation)] = [
    ("an empty id", .insert("", "a")),
    ("an id that is too long", .insert(String(repeating: "x", count: 513), "a")),
    ("an op there is none of", Mutation(id: "m", table: "notes", pk: "a", operation: "upsert")),
    ("an empty key", .insert("m", "")),
    ("a lone key for two columns", .insert("m", "a", in: "pairs")),
    ("a key without blanks", .insert("m", #"["00000000-0000-0000-0000-00000000000a","1"]"#, in: "pairs")),
    ("a key with a number", .insert("m", #"["00000000-0000-0000-0000-00000000000a", 1]"#, in: "pairs")),
    ("a key with one column too many", .insert("m", #"["a", "1", "2"]"#, in: "pairs")),
    ("an UUID in capitals", .insert("m", #"["00000000-0000-0000-0000-00000000000A", "1"]"#, in: "pairs")),
    ("an integer with a zero", .insert("m", #"["00000000-0000-0000-0000-00000000000a", "01"]"#, in: "pairs")),
    ("an integer out of range", .insert("m", #"["00000000-0000-0000-0000-00000000000a", "2147483648"]"#, in: "pairs")),
    (
      "a column twice",
      .update("m", "a", ["n": 1]).with { $0.transforms = ["n": ["op": "increment", "by": 1]] }
    ),
    ("a transform that is a text", .update("m", "a").with { $0.transforms = ["n": "increment"] }),
    ("a transform without op", .update("m", "a").with { $0.transforms = ["n": ["by": 1]] }),
    ("an unknown transform", .update("m", "a").with { $0.transforms = ["n": ["op": "multiply", "by": 1]] }),
    ("no by", .update("m", "a").with { $0.transforms = ["n": ["op": "increment"]] }),
    ("a null by", .update("m", "a").with { $0.transforms = ["n": ["op": "increment", "by": .null]] }),
    ("a fraction", .update("m", "a").with { $0.transforms = ["n": ["op": "increment", "by": 1.5]] }),
    ("a by with a plus", .update("m", "a").with { $0.transforms = ["n": ["op": "increment", "by": "+1"]] }),
    ("no values", .update("m", "a").with { $0.transforms = ["n": ["op": "arrayUnion", "values": []]] }),
    ("a null value", .update("m", "a").with { $0.transforms = ["n": ["op": "arrayUnion", "values": [.null]]] }),
    ("a nested value", .update("m", "a").with { $0.transforms = ["n": ["op": "arrayRemove", "values": [[1]]]] }),
    ("no stamp on an insert", .insert("m", "a", in: "clocked")),
    ("no stamp on an update", .update("m", "a", ["n": 1], in: "clocked")),
    (
      "a stamp without a node",
      .insert("m", "a", in: "clocked").with { $0.hlc = "2026-01-01T00:00:00.000Z|0|" }
    ),
    (
      "a stamp without milliseconds",
      .insert("m", "a", in: "clocked").with { $0.hlc = "2026-01-01T00:00:00Z|0|n" }
    ),
  ]

  @Test("what is malformed refuses everything", arguments: malformed)
  func malformedMutation(_ name: String, _ mutation: Mutation) async throws {
    let test = try await server()
    let code = await refusal { try await test.push([.insert("good", "g"), mutation], version: 9) }
    #expect(code == .invalidParameter, "\(name)")
    #expect(try await test.highMark == 0)
    #expect(try await test.push([.insert("good", "g")], version: 9).verdicts == [.applied("good")])
  }

  @Test("a delete and an update of transforms alone need no stamp")
  func stampNotNeeded() async throws {
    let test = try await server()
    try await test.own("clocked", "a", ["n": 1])
    let answer = try await test.push([
      .update("m1", "a", in: "clocked").with { $0.transforms = ["n": ["op": "increment", "by": -2]] },
      .delete("m2", "a", in: "clocked"),
    ])
    #expect(answer.verdicts == [.applied("m1", serverRow: ["n": -1]), .applied("m2")])
  }

  @Test("a canonical key of two columns is taken")
  func compositeKey() async throws {
    let test = try await server()
    let pk = #"["00000000-0000-0000-0000-00000000000a", "-12"]"#
    let insert = Mutation.insert("m", pk, ["n": -12, "list": "00000000-0000-0000-0000-00000000000a"], in: "pairs")
    #expect(try await test.push([insert]).verdicts == [.applied("m")])
  }
}
