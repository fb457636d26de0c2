import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Lists of scalars. A list is one value: the client's wins as a whole.
struct ResetCaseListsTests {
  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(_ row: ResetCase) { cases.append(row) }
    add(ResetCase(55, value: ["a"], [.set("r", ["v": ["b"]])], ["a"], ["b"]))
    add(ResetCase(56, value: ["a"], [.set("r", ["v": ["b", "a", "b"]])], [], ["b", "a", "b"]))
    add(ResetCase(58, value: ["a"], [.set("r", ["v": []])], [], []))
    add(ResetCase(59, value: ["a"], [.set("r", ["v": ["a", "a", "b"]])], ["a", "b"], ["a", "a", "b"]))
    add(ResetCase(61, value: ["a"], [.set("r", ["v": ["a", "b", "a"]])], ["b", "b", "b"], ["a", "b", "a"]))
    add(ResetCase(62, value: ["a"], [.set("r", ["v": ["a"]])], ["a"], ["a"]))
    add(ResetCase(64, value: ["1", "2", "3"], [.set("r", ["v": ["1", "3"]])], ["1", "2", "3"], ["1", "3"]))
    add(ResetCase(65, value: ["1", "2", "3"], [.set("r", ["v": []])], ["1", "2", "3"], []))
    add(
      ResetCase(67, value: [0, 1], [.set("r", ["v": [1, 4]]), .set("r", ["v": [1, 4, 5]])], [8], [1, 4, 5]))
    // Appended to a list and to a dictionary that the server cleared: members of an array, keys as columns.
    add(
      ResetCase(
        70, ["r": ["list": [1], "key": 42]], [.union("r", "list", 2), .set("r", ["key2": "value"])],
        ["r": ["list": []]], ["r": ["list": [2], "key2": "value"]]))
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `lists end as the client has them`(_ run: ResetCaseRun) async throws { try await run.check() }
}
