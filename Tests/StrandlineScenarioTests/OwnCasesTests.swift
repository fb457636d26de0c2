import Foundation
import Testing

@testable import StrandlineScenario

struct OwnCasesTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/scenarios").path

  @Test func `every case of ours passes on both sides`() async throws {
    let collection = try ScenarioCollection(paths: [Self.folder])
    #expect(collection.passedOver.isEmpty)
    #expect(collection.cases.count >= 80)
    for scenario in collection.cases {
      let report = await scenario.run(on: Set(ScenarioSide.allCases))
      for side in report.sides {
        #expect(side.failure == nil, "\(report.name) (\(report.path)), \(side.side)")
      }
      #expect(report.outcome == .passed, "\(report.name)")
    }
  }
}
