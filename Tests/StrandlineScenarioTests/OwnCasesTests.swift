import Testing

@testable import StrandlineScenario

@Suite("Own cases") struct OwnCasesTests {
  /// Folders, so that several run at once.
  static let folders = [
    "batches", "buckets", "conflicts", "cursors", "decisions", "delete-wins", "hlc", "journal", "keys", "ledger",
    "local", "overlay",
    "preconditions", "pull", "push", "signals", "soft-delete", "tombstones", "transforms",
  ]

  @Test("every case of ours passes on every side that it is for", arguments: folders)
  func ownCases(folder: String) async throws {
    let collection = try ScenarioCollection(paths: ["\(OwnCases.folder)/\(folder)"])
    #expect(collection.passedOver.isEmpty)
    #expect(!collection.cases.isEmpty)
    for scenario in collection.cases {
      let report = await scenario.run(on: Set(ScenarioSide.allCases))
      #expect(report.outcome == .passed, "\(report.name) in \(report.path): \(report.sides)")
    }
  }

  @Test("there is no folder that the test passes over, and no name twice")
  func nothingIsLeftOut() throws {
    let all = try ScenarioCollection(paths: [OwnCases.folder])
    let listed = try ScenarioCollection(paths: Self.folders.map { "\(OwnCases.folder)/\($0)" })
    #expect(all.cases.count == listed.cases.count)
    #expect(all.cases.filter { $0.kind == .transcript }.count >= 80)
    let names = Dictionary(grouping: all.cases, by: { [$0.path, $0.name] })
    #expect(names.values.allSatisfy { $0.count == 1 })
  }
}
