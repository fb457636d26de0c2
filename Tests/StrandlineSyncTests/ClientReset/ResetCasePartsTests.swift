import StrandlineProtocol
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Embedded objects: parts that merge one by one are columns of their own, and what is assigned whole is one value.
///
/// `link_…` are the fields of one, `link_inner_…` those of the one inside it, and other columns are keys of a dictionary of them.
struct ResetCasePartsTests {
  private static func parts(_ mark: String) -> [String: Value] {
    [
      "link_name": .string("\(mark) link"), "link_inner_name": .string("\(mark) inner"),
      "foo": ["name": .string("\(mark) foo")], "bar": ["name": .string("\(mark) bar")],
      "baz": ["name": .string("\(mark) baz")],
    ]
  }
  private static let base: ResetCase.Rows = ["r": ["name": "row"]]
  private static func row(_ columns: [String: Value]) -> [String: Value] {
    columns.merging(["name": "row"]) { first, _ in first }
  }

  static let cases: [ResetCase] = {
    var cases: [ResetCase] = []
    func add(_ row: ResetCase) { cases.append(row) }
    let (mine, theirs) = (parts("mine"), parts("theirs"))
    add(ResetCase(142, base, [.set("r", mine)], ["r": row(mine)], ["r": row(mine)]))
    let second: [String: Value] = ["link_second": "theirs alone"]
    add(
      ResetCase(
        143, base, [.set("r", mine)], ["r": row(theirs.merging(second) { first, _ in first })],
        ["r": row(mine.merging(second) { first, _ in first })]))
    let nothing = mine.mapValues { _ in Value.null }
    add(ResetCase(145, base, [.set("r", nothing)], ["r": row(theirs)], ["r": row(nothing)]))
    let more = mine.merging(["key1": [:], "key2": [:], "key3": [:]]) { first, _ in first }
    add(ResetCase(146, base, [.set("r", mine)], ["r": row(more)], ["r": row(more)]))
    func keys(_ mark: String) -> [String: Value] {
      Dictionary(uniqueKeysWithValues: (1...3).map { ("key\($0)", ["name": .string("\(mark) \($0)")]) })
    }
    add(ResetCase(148, base, [.set("r", keys("mine"))], ["r": row(keys("theirs"))], ["r": row(keys("mine"))]))
    add(ResetCase(154, value: [1, 2, 3], [.set("r", ["v": [12345, 2, 3]])], [2, 3], [12345, 2, 3]))
    add(ResetCase(155, value: [1, 2, 3], [.set("r", ["v": [2, 3]])], [], [2, 3]))
    let (a, b, c): (Value, Value, Value) = (["name": "a"], ["name": "b"], ["name": "c"])
    add(
      ResetCase(
        157, value: [a, b, c],
        [.set("r", ["v": [b, a, c]]), .set("r", ["v": [b, c, a]]), .set("r", ["v": [c, b, a]])], [], [c, b, a]))
    add(
      ResetCase(
        161, ["r": ["foo": a]], [.set("r", ["foo": .null])], ["r": ["foo": .null]], ["r": ["foo": .null]]))
    // One key that was there before, by its fields: one of both sides, one of each, a set and a list.
    let foo: [String: Value] = ["foo_x": 0, "foo_set": [1], "foo_list": [1]]
    add(
      ResetCase(
        163, ["r": foo],
        [.set("r", ["foo_x": 1, "foo_mine": 1, "foo_list": [1, 2]]), .union("r", "foo_set", 2)],
        ["r": ["foo_x": 2, "foo_theirs": 2, "foo_set": [1, 3], "foo_list": [3]]],
        ["r": ["foo_x": 1, "foo_mine": 1, "foo_theirs": 2, "foo_set": [1, 3, 2], "foo_list": [1, 2]]]))
    for key in ["new key", "\u{0}", "k\u{0}ey"] {
      add(
        ResetCase(
          164, reading: key.debugDescription, base, [.set("r", [key: a])], ["r": row([key: b])], ["r": row([key: a])]))
    }
    let gone: [String: [String: Value]?] = ["r": nil]
    let three: ResetCase.Rows = ["r": ["v": [a, b, c]]]
    add(
      ResetCase(
        169, three, [.set("r", ["v": [c, a, b, c]]), .set("r", ["v": [a, b, c]])], gone, [:],
        dropped: [.deletedOnServer, .deletedOnServer]))
    add(ResetCase(170, three, [.set("r", ["v": [b, c]])], gone, [:], dropped: [.deletedOnServer]))
    add(
      ResetCase(
        173, value: [["inner": [1]], ["inner": []]], [.set("r", ["v": [["inner": [1, 2]], ["inner": []]]])],
        [["inner": []], ["inner": [1, 3]]], [["inner": [1, 2]], ["inner": []]]))
    add(ResetCase(175, ["r": ["foo_n": 5]], [.add("r", "foo_n", 3)], ["r": ["foo_n": 5]], ["r": ["foo_n": 8]]))
    add(ResetCase(176, ["r": ["foo_n": 5]], [.add("r", "foo_n", 3)], ["r": ["foo_n": 25]], ["r": ["foo_n": 28]]))
    add(ResetCase(178, ["r": ["foo_n": 5]], [.add("r", "foo_n", 3)], gone, [:], dropped: [.deletedOnServer]))
    return cases
  }()

  @Test(arguments: ResetCase.runs(of: cases))
  func `parts end as their columns do`(_ run: ResetCaseRun) async throws { try await run.check() }
}
