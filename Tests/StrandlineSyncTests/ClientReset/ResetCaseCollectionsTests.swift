import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Collections of links, as arrays of keys: the row `r` has 1, 2 and 3.
struct ResetCaseCollectionsTests {
  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(
      _ number: Int, reading: String = "", _ steps: [ResetCase.Step], _ server: Value, _ recovered: Value
    ) {
      cases.append(ResetCase(number, reading: reading, value: [1, 2, 3], steps, server, recovered))
    }
    add(86, [], [1, 2, 3], [1, 2, 3])
    add(88, [.subtract("r", "v", 3), .subtract("r", "v", 2), .subtract("r", "v", 1)], [1, 2, 3], [])
    add(89, [.subtract("r", "v", 1, 2, 3)], [], [])
    add(91, [.subtract("r", "v", 2)], [1, 2, 3], [1, 3])
    add(92, [.subtract("r", "v", 3)], [1, 2, 3], [1, 2])
    add(95, reading: "set", [.subtract("r", "v", 1)], [1, 2], [2])
    add(95, reading: "list", [.set("r", ["v": [2, 3]])], [1, 2], [2, 3])
    add(97, [], [1, 2, 3, 4], [1, 2, 3, 4])
    add(98, [.union("r", "v", 4)], [1, 2, 3, 5], [1, 2, 3, 5, 4])
    add(100, [.union("r", "v", 4), .subtract("r", "v", 4)], [1, 2, 3, 5], [1, 2, 3, 5])
    add(101, [.union("r", "v", 4)], [1, 2, 3], [1, 2, 3, 4])
    add(104, [.set("r", ["v": []])], [1, 2, 3], [])
    add(106, [.set("r", ["v": []])], [], [])
    add(107, [.set("r", ["v": []]), .union("r", "v", 1)], [2], [1])
    func addGone(
      _ number: Int, reading: String = "", _ steps: [ResetCase.Step], _ server: [String: [String: Value]?],
      _ recovered: ResetCase.Rows, dropped: [ClientResetReport.Reason]
    ) {
      cases.append(
        ResetCase(number, reading: reading, ["r": ["v": [1, 2, 3]]], steps, server, recovered, dropped: dropped))
    }
    addGone(121, [.subtract("r", "v", 1), .delete("r")], ["r": ["v": [1, 2, 3, 5]]], [:], dropped: [])
    addGone(
      122, [.union("r", "v", 4), .set("r", ["v": []])], ["r": nil], [:], dropped: [.deletedOnServer, .deletedOnServer])
    let again: [ResetCase.Step] = [
      .union("r", "v", 4), .delete("r"), .insert("r", ["v": []]), .union("r", "v", 1),
    ]
    addGone(
      124, reading: "with a tombstone", again, ["r": nil], [:],
      dropped: [.deletedOnServer, .deletedOnServer, .deletedOnServer])
    addGone(124, reading: "without a tombstone", again, [:], ["r": ["v": [1]]], dropped: [.missingOnServer])
    addGone(125, [.union("r", "v", 4)], ["r": nil], [:], dropped: [.deletedOnServer])
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `collections of keys end as the rules say`(_ run: ResetCaseRun) async throws { try await run.check() }
}
