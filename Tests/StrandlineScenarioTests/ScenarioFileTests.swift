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

  @Test("folders are read with all below them, what is no scenario is passed over, what is no JSON fails")
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
    let collection = try ScenarioCollection(paths: [folder.path])
    #expect(
      collection.files.map { $0.path.dropFirst(folder.path.count + 1) } == [
        "a.json", "b/c.json/cursors.json", "broken.json",
      ])
    #expect(collection.passedOver == ["\(folder.path)/other.json"])
    var outcomes: [CaseReport.Outcome] = []
    for scenario in collection.cases { outcomes.append(await scenario.run(on: [.server]).outcome) }
    #expect(outcomes == [.passed, .passed, .failed])
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
