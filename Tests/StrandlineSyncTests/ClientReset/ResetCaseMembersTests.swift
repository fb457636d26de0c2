import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Dictionaries whose keys merge one by one, as columns, and sets, as arrays with transforms.
struct ResetCaseMembersTests {
  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(_ row: ResetCase) { cases.append(row) }
    add(ResetCase(71, ["r": ["hello": "a"]], [.set("r", ["hello": "a"])], ["r": ["hello": "b"]], ["r": ["hello": "a"]]))
    add(
      ResetCase(
        73, ["r": ["hello": "a"]],
        [.set("r", ["hello": .null, "adam": "a", "bernie": "a", "david": "a", "eric": "a", "frank": "b"])],
        ["r": ["hello": .null, "adam": "a", "bernie": "b", "carl": "a", "david": "b", "frank": "a"]],
        [
          "r": ["hello": .null, "adam": "a", "bernie": "a", "carl": "a", "david": "a", "eric": "a", "frank": "b"]
        ]))
    add(ResetCase(74, ["r": ["hello": "a"]], [.set("r", ["hello": "b"])], ["r": [:]], ["r": ["hello": "b"]]))
    add(
      ResetCase(
        76, ["r": ["hello": "a"]], [.set("r", ["hello": "a"])],
        ["r": ["hello": "a", "world": "b", "foo": "b", "aaa": "a"]],
        ["r": ["hello": "a", "world": "b", "foo": "b", "aaa": "a"]]))
    add(ResetCase(77, value: ["a"], [], ["b"], ["b"]))
    // Said aloud it counts, though it changed nothing here.
    add(ResetCase(77, reading: "with an explicit union", value: ["a"], [.union("r", "v", "a")], ["b"], ["b", "a"]))
    add(ResetCase(79, value: ["a"], [.union("r", "v", "b")], [], ["b"]))
    add(ResetCase(80, value: ["a"], [.subtract("r", "v", "a")], ["a", "b"], ["b"]))
    add(ResetCase(82, value: ["a"], [.union("r", "v", "b")], ["b"], ["b"]))
    add(ResetCase(83, value: ["a"], [], ["a", "b"], ["a", "b"]))
    add(
      ResetCase(85, value: ["a"], [.union("r", "v", "b"), .subtract("r", "v", "a")], ["a", "c"], ["c", "b"]))
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `keys and members merge one by one`(_ run: ResetCaseRun) async throws { try await run.check() }
}
