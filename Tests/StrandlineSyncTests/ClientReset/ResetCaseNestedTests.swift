import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Fields with nested collections: one value, assigned whole.
struct ResetCaseNestedTests {
  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(_ row: ResetCase) { cases.append(row) }
    add(ResetCase(181, ["r": [:]], [.set("r", ["v": [30]])], ["r": ["v": ["Test": 40]]], ["r": ["v": [30]]]))
    add(ResetCase(185, ["r": [:]], [.set("r", ["v": [[30]]])], ["r": ["v": ["List": [30]]]], ["r": ["v": [[30]]]]))
    add(
      ResetCase(
        188, value: [[30]], [.set("r", ["v": [[50, 30]]]), .set("r", ["v": [[150], [50, 30]]])], [[42], [30, 100]],
        [[150], [50, 30]]))
    add(ResetCase(190, value: [[30, 10]], [.set("r", ["v": [[10, 30]]])], [[30, 10, 2]], [[10, 30]]))
    add(
      ResetCase(
        191, ["r": ["Test": ["Val": 30]]], [.set("r", ["Test": .null])], ["r": ["Test": ["Val": 30, "Val1": 31]]],
        ["r": ["Test": .null]]))
    // Members for what is no array any more.
    add(
      ResetCase(
        194, ["r": ["v": [1]]], [.union("r", "v", 2), .union("r", "v", 3)], ["r": ["v": ["key": "value"]]],
        ["r": ["v": ["key": "value"]]], dropped: [.typeChangedOnServer, .typeChangedOnServer]))
    add(
      ResetCase(
        196, ["r": ["v": [1]]], [.union("r", "v", 2)], ["r": ["v": "value"]], ["r": ["v": "value"]],
        dropped: [.typeChangedOnServer]))
    add(
      ResetCase(
        199, ["r": ["k1": [1, [2]], "k2": 42]], [.set("r", ["k1": [1, [2, 3]]])],
        ["r": ["k1": ["value", [2]], "k2": 43]], ["r": ["k1": [1, [2, 3]], "k2": 43]]))
    add(
      ResetCase(
        200, value: ["k1": ["k2": [1]]], [.set("r", ["v": ["k1": ["k2": [42]]]])], ["k1": ["k2": [1]]],
        ["k1": ["k2": [42]]]))
    add(ResetCase(202, value: [42], [.set("r", ["v": [43]]), .set("r", ["v": "value"])], [42], "value"))
    add(
      ResetCase(
        203, value: ["k1": [1, [2]]], [.set("r", ["v": ["k1": [1, [2, 3]]]]), .set("r", ["v": ["k1": 42]])],
        ["k1": [1, [2]]], ["k1": 42]))
    add(ResetCase(205, value: [1], [.set("r", ["v": []]), .set("r", ["v": [2]])], "value", [2]))
    add(
      ResetCase(
        206, value: ["key": [42]], [.set("r", ["v": ["key": []]]), .set("r", ["v": ["key": ["value"]]])],
        ["key": [42]], ["key": ["value"]]))
    add(
      ResetCase(
        208, value: [1, [2]], [.set("r", ["v": [1, []]]), .set("r", ["v": [1, [3]]])], [42, [2]], [1, [3]]))
    add(
      ResetCase(
        209, ["r": [:]],
        [.set("r", ["key": [42, [1]]]), .set("r", ["key": [42, []]]), .set("r", ["key": [42, [2]]])],
        ["r": ["key2": "value"]], ["r": ["key": [42, [2]], "key2": "value"]]))
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `nested collections end as the client has them`(_ run: ResetCaseRun) async throws { try await run.check() }
}
