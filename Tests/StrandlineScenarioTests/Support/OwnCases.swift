import Foundation
import Testing

@testable import StrandlineScenario

/// The checked-in scenario files.
enum OwnCases {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/scenarios").path

  static func json(_ name: String) throws -> Value {
    let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(name).json"))
    return try Value.json(Array(bytes))
  }

  /// Runs a file that never was one, and answers the reports of its cases.
  static func run(_ json: Value, on sides: Set<ScenarioSide> = Set(ScenarioSide.allCases)) async throws -> [CaseReport]
  {
    let file = try #require(ScenarioFile(path: "edited.json", json: json))
    var reports: [CaseReport] = []
    for scenario in file.cases { reports.append(await scenario.run(on: sides)) }
    return reports
  }
}
