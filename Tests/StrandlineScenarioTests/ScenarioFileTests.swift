import Foundation
import Testing

@testable import StrandlineScenario

@Suite("Scenario files") struct ScenarioFileTests {
  static let pages = "pull/pages-from-a-checkpoint"

  @Test("the keys of a file tell its kind")
  func kinds() {
    func kind(_ json: Value) -> ScenarioKind?? { ScenarioFile(path: "x", json: json).map { $0.cases.first?.kind } }
    #expect(kind(["context": [:], "steps": []]) == .transcript)
    #expect(kind(["version": 1, "scenarios": [["id": "a", "steps": []]]]) == .localScenario)
    #expect(kind(["vectors": [["name": "a", "local_mutations": [], "expect": [:]]]]) == .conflictVector)
    #expect(kind(["vectors": [["name": "a", "key_columns": ["id"], "row": [:], "pk": "p"]]]) == .keyVector)
    #expect(kind(["accept": ["1"], "reject": []]) == .cursorVector)
    for other: Value in [
      [], [:], "x", ["steps": []], ["context": [:]], ["vectors": []], ["vectors": [["pk": "p"]]], ["accept": []],
      ["scenarios": [:]],
    ] {
      #expect(ScenarioFile(path: "x", json: other) == nil, "\(other.json)")
    }
  }

  @Test("keys that nobody knows are ignored, at the top and in steps")
  func unknownKeys() async throws {
    let right = try OwnCases.json(Self.pages)
    for place: [JSONPlace] in [
      ["cites"], ["priority"], ["steps", 1, "notes"], ["context", "fencing"], ["steps", 6, "checks", 0, "why"],
    ] {
      #expect(try await OwnCases.run(right.with(place, ["x": 1])).map(\.outcome) == [.passed])
    }
  }

  @Test("the members of buckets are a set, the columns of a row are not")
  func buckets() async throws {
    let right = try OwnCases.json("buckets/each-table-its-column")
    let place: [JSONPlace] = ["steps", 3, "request", "buckets"]
    let buckets = right["steps"][3]["request"]["buckets"]
    #expect(try await OwnCases.run(right.with(place, [buckets[1], buckets[0]])).map(\.outcome) == [.passed])
    #expect(
      try await OwnCases.run(right.with(place, [buckets[1], buckets[0], buckets[1]])).map(\.outcome) == [.passed])
    #expect(
      JSONDifference.all(expected: ["buckets": [1, 2]], got: ["buckets": [2, 1]]).map(\.path) == [
        "buckets[0]", "buckets[1]",
      ])
  }

  @Test("JSON is compared by value")
  func comparing() throws {
    func differences(_ expected: String, _ got: String) throws -> [String] {
      JSONDifference.all(expected: try Value.json(expected), got: try Value.json(got)).map(\.path)
    }
    #expect(try differences(#"{"a":1,"b":[1,{}]}"#, #" { "b" : [ 1.0 , {} ], "a":1e0 } "#).isEmpty)
    #expect(try differences(#"{"a":null}"#, "{}") == ["a"])
    #expect(try differences("{}", #"{"a":null}"#) == ["a"])
    #expect(try differences(#"[1,"1",true,null]"#, #"["1",1,1,0]"#) == ["[0]", "[1]", "[2]", "[3]"])
    #expect(try differences(#"{"r":[{"x":"é"}]}"#, "{\"r\":[{\"x\":\"e\u{301}\"}]}") == ["r[0].x"])
    #expect(try differences("[1,2]", "[2,1]") == ["[0]", "[1]"])
    #expect(try differences("[1]", "[1,2]") == ["[1]"])
    #expect(try differences("[]", "{}") == [""])
    #expect(try differences("12345678901234567890123", "12345678901234567890124") == [""])
  }

  @Test("a side that a file is not for is skipped: by its key, or by a cursor with holes")
  func sides() async throws {
    let right = try OwnCases.json(Self.pages)
    let clientOnly = right.with(["sides"], ["client"])
    #expect(try await OwnCases.run(clientOnly).first?.sides.map(\.side) == [.client])
    #expect(try await OwnCases.run(clientOnly, on: [.server]).map(\.outcome) == [.skipped])
    let broken = try await OwnCases.run(["scenarios": [["id": "a", "steps": [["op": "guess"]]]]], on: [.server])
    #expect(broken.map(\.outcome) == [.skipped])
    let holes = try OwnCases.json("cursors/holes")
    #expect(try await OwnCases.run(holes).first?.sides.map(\.side) == [.client])
    let named = try await OwnCases.run(holes.with(["sides"], ["server"])).first
    #expect(named?.sides.map(\.side) == [.server])
    #expect(named?.outcome == .failed)
  }

  @Test("any file can say which sides it is for")
  func sidesOfVectors() async throws {
    let keys: Value = ["vectors": [["name": "a", "key_columns": ["id"], "row": ["id": "p"], "pk": "p"]]]
    #expect(try await OwnCases.run(keys).first?.sides.map(\.side) == [.client, .server])
    let clientOnly = keys.with(["sides"], ["client"])
    #expect(try await OwnCases.run(clientOnly).first?.sides.map(\.side) == [.client])
    #expect(try await OwnCases.run(clientOnly, on: [.server]).map(\.outcome) == [.skipped])
    let cursors: Value = ["accept": ["1"], "reject": [], "sides": ["client"]]
    #expect(try await OwnCases.run(cursors).map(\.outcome) == [.skipped])
    #expect(try await OwnCases.run(keys.with(["sides"], ["both"])).map(\.outcome) == [.failed])
  }

  @Test("a limit is a number by its value")
  func limitWithFraction() async throws {
    let right = try OwnCases.json(Self.pages)
    var edited = right
    guard case .array(let steps) = right["steps"] else { return }
    for (place, step) in steps.enumerated() where !step["request"]["limit"].isNull {
      guard case .int(let limit) = step["request"]["limit"] else { continue }
      edited = edited.with(["steps", .index(place), "request", "limit"], .double(Double(limit)))
    }
    #expect(edited != right)
    #expect(try await OwnCases.run(edited).map(\.outcome) == [.passed])
  }

  @Test("a request that is no object fails the case, on both sides", arguments: [.null, "x", []] as [Value])
  func requestsThatAreNone(request: Value) async throws {
    let edited = try OwnCases.json(Self.pages).with(["steps", 1, "request"], request)
    for side in ScenarioSide.allCases {
      #expect(try await OwnCases.run(edited, on: [side]).map(\.outcome) == [.failed])
    }
  }

  @Test("words of an expectation that there is none of fail the case")
  func unknownExpectations() async throws {
    let vector: Value = [
      "vectors": [["name": "a", "local_mutations": [], "tables": ["t"], "expect": ["outbox_depth": 0]]]
    ]
    #expect(try await OwnCases.run(vector).map(\.outcome) == [.passed])
    #expect(try await OwnCases.run(vector.with(["vectors", 0, "expect", "row"], [])).map(\.outcome) == [.failed])
    let local: Value = [
      "scenarios": [["id": "a", "steps": [["op": "create", "tables": ["t": [:]]], ["op": "outbox_depth"]]]]
    ]
    #expect(try await OwnCases.run(local).map(\.outcome) == [.passed])
    let misspelt = local.with(["scenarios", 0, "steps", 1, "expect_dept"], 7)
    #expect(try await OwnCases.run(misspelt).map(\.outcome) == [.failed])
    #expect(try await OwnCases.run(local.with(["scenarios", 0, "steps", 1, "why"], 7)).map(\.outcome) == [.passed])
  }

  @Test("an empty list is no null")
  func nullOfQueries() async throws {
    func outcome(_ cardinality: String) async throws -> [CaseReport.Outcome] {
      try await OwnCases.run([
        "scenarios": [
          [
            "id": "a",
            "steps": [
              ["op": "create", "tables": ["t": [:]]],
              ["op": "query", "table": "t", "plan": ["cardinality": .string(cardinality)], "expect_null": true],
            ],
          ]
        ]
      ]).map(\.outcome)
    }
    #expect(try await outcome("maybeSingle") == [.passed])
    #expect(try await outcome("many") == [.failed])
  }

  @Test("numbers that are used up fail the case, whoever draws", arguments: ["upsert", "delete", "move", "push"])
  func lastNumber(of change: String) async throws {
    let last = Int64.max
    let high = change == "move" ? last - 1 : last
    let scope: Value = [["table": "t", "params": ["o": "u"]]]
    let row: Value = ["table": "t", "pk": "a", "seq": .string(String(high)), "row": ["o": "u"]]
    let write: Value =
      switch change {
      case "upsert": ["kind": "server", "op": "upsert", "table": "t", "pk": "b", "columns": ["o": "u"]]
      case "delete": ["kind": "server", "op": "delete", "table": "t", "pk": "a"]
      case "move": ["kind": "server", "op": "upsert", "table": "t", "pk": "a", "columns": ["o": "v"]]
      default:
        [
          "kind": "rpc", "rpc": "push",
          "request": [
            "client_id": "c", "schema_version": 1, "last_mutation_id": .null,
            "batch": [
              "atomic": false,
              "mutations": [["mutation_id": "m", "table": "t", "pk": "b", "op": "insert", "columns": ["o": "u"]]],
            ],
          ], "response": ["verdicts": [["mutation_id": "m", "verdict": "applied"]]],
        ]
      }
    let reports = try await OwnCases.run(
      [
        "case": "last",
        "context": [
          "user_id": "u", "client_id": "c", "schema_version": 1,
          "server": ["min_schema_version": 0, "tables": ["t": ["bucket_column": "o"]]],
        ],
        "steps": [
          [
            "kind": "rpc", "rpc": "pull",
            "request": ["client_id": "c", "schema_version": 1, "cursor": "0", "buckets": scope],
            "response": [
              "cursor": .string(String(high)), "has_more": false, "signal": .null, "rows": [row], "tombstones": [],
            ],
          ], write,
        ],
      ], on: [.server])
    #expect(reports.map(\.outcome) == [.failed])
    #expect(reports.first?.sides.first?.failure?.step == 2, "\(reports)")
  }

  @Test("folders are read with all below them, what is no scenario is passed over, what cannot be read fails")
  func folders() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-files-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("b/c.json"), withIntermediateDirectories: true)
    func write(_ name: String, _ text: String) throws {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    try write("b/c.json/cursors.json", #"{"accept":["1"],"reject":[]}"#)
    try write("a.json", #"{"accept":["2"],"reject":[]}"#)
    try write("other.json", #"{"name":"no scenario"}"#)
    try write("broken.json", "{")
    try write("note.txt", "{")
    #expect(mkfifo(folder.appendingPathComponent("pipe.json").path, 0o600) == 0)
    let collection = try ScenarioCollection(paths: [folder.path])
    #expect(
      collection.files.map { $0.path.dropFirst(folder.path.count + 1) } == [
        "a.json", "b/c.json/cursors.json", "broken.json", "pipe.json",
      ])
    #expect(collection.passedOver == ["\(folder.path)/other.json"])
    var outcomes: [CaseReport.Outcome] = []
    for scenario in collection.cases { outcomes.append(await scenario.run(on: [.server]).outcome) }
    #expect(outcomes == [.passed, .passed, .failed, .failed])
    for (name, kind) in [
      ("other.json", ScenarioPathError.Kind.noScenario), ("broken.json", .noScenario), ("none.json", .unreadable),
    ] {
      let error = #expect(throws: ScenarioPathError.self) {
        try ScenarioCollection(paths: [folder.appendingPathComponent(name).path])
      }
      #expect(error?.kind == kind)
    }
  }
}
