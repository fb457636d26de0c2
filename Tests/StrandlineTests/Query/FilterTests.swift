import StrandlineTestSupport
import Testing

@testable import Strandline

struct FilterTests {
  private static let answers: [Bool?] = [true, false, nil]

  /// A filter with the answer asked for about the row `["x": 1]`.
  private static func filter(_ answer: Bool?) -> Filter {
    switch answer {
    case true?: .column("x", .equals, 1)
    case false?: .column("x", .equals, 2)
    case nil: .column("x", .equals, .null)
    }
  }

  @Test func `not, and and or are SQL's tables of truth`() throws {
    let and: [[Bool?]] = [[true, false, nil], [false, false, false], [nil, false, nil]]
    let or: [[Bool?]] = [[true, true, true], [true, false, nil], [true, nil, nil]]
    let not: [Bool?] = [false, true, nil]
    for (row, left) in Self.answers.enumerated() {
      #expect(try Filter.not(Self.filter(left)).answer(["x": 1]) == not[row])
      for (column, right) in Self.answers.enumerated() {
        let parts = [Self.filter(left), Self.filter(right)]
        #expect(try Filter.and(parts).answer(["x": 1]) == and[row][column])
        #expect(try Filter.or(parts).answer(["x": 1]) == or[row][column])
      }
    }
    #expect(try Filter.and([]).answer([:]) == true)
    #expect(try Filter.or([]).answer([:]) == false)
  }

  @Test(arguments: Comparison.allCases)
  func `a null cell, an absent cell and a null operand are unknown to all comparisons but is and isDistinct`(
    _ comparison: Comparison
  ) throws {
    let operand: Value =
      switch comparison {
      case .in, .notIn, .likeAllOf, .likeAnyOf, .ilikeAllOf, .ilikeAnyOf, .overlaps: ["a"]
      case .is: true
      default: "a"
      }
    let cells: [[String: Value]] = [["x": .null], [:]]
    for row in cells {
      let expected: Bool? = comparison == .is ? false : comparison == .isDistinct ? true : nil
      #expect(try Filter.column("x", comparison, operand).answer(row) == expected)
      #expect(try Filter.not(.column("x", comparison, operand)).answer(row) == expected.map { !$0 })
    }
    let nothing: Value =
      switch comparison {
      case .in, .notIn, .likeAllOf, .likeAnyOf, .ilikeAllOf, .ilikeAnyOf: [.null]
      default: .null
      }
    let expected: Bool? = comparison == .is ? false : comparison == .isDistinct ? true : nil
    #expect(try Filter.column("x", comparison, nothing).answer(["x": "a"]) == expected)
  }

  struct Case: Sendable {
    var cell: Value
    var comparison: Comparison
    var operand: Value
    var answer: Bool?

    init(_ cell: Value, _ comparison: Comparison, _ operand: Value, _ answer: Bool?) {
      (self.cell, self.comparison, self.operand, self.answer) = (cell, comparison, operand, answer)
    }
  }

  @Test(arguments: [
    Case(2, .equals, 2.0, true), Case(.decimal("2.00"), .equals, 2, true), Case(.decimal("0.1"), .equals, 0.1, false),
    Case(.int(9_007_199_254_740_993), .greaterThan, .double(9_007_199_254_740_992), true), Case("2", .equals, 2, false),
    Case("2", .notEquals, 2, true), Case("2", .lessThan, 5, false), Case("2", .greaterThan, 1, false),
    Case("Z", .lessThan, "a", true), Case("\u{FF61}", .lessThan, "\u{1F600}", true),
    Case("é", .equals, "e\u{301}", false),
    Case(false, .lessThan, true, true), Case([1, 2], .equals, [1, 2.0], true), Case(["a": 1], .equals, ["a": 1], true),
    Case("a%c", .like, "a\\%c", true), Case("abc", .like, "a\\%c", false), Case("aéc", .like, "a_c", true),
    Case("ABC", .like, "a%", false), Case("ABC", .ilike, "a%", true), Case("ÉTÉ", .ilike, "été", true),
    Case(125, .like, "1%", true),
    Case(true, .like, "tr%", true), Case([1], .like, "%", false), Case("", .like, "%", true),
    Case("", .like, "_", false),
    Case("banana", .like, "%an%an%", true), Case("banana", .likeAllOf, ["b%", "%a"], true),
    Case("banana", .likeAllOf, ["b%", .null], nil), Case("banana", .likeAllOf, ["c%", .null], false),
    Case("banana", .likeAnyOf, ["c%", "%a"], true), Case("banana", .likeAnyOf, ["c%", .null], nil),
    Case("banana", .likeAnyOf, [], false),
    Case("banana", .ilikeAllOf, ["B%", "%A"], true), Case("banana", .ilikeAnyOf, ["X", "%NAN%"], true),
    Case("banana", .match, "(an)+a$", true), Case("banana", .match, "^an", false),
    Case("BANANA", .imatch, "n[a-b]n", true),
    Case(1, .in, [1.0, 5], true), Case(1, .in, [2, .null], nil), Case(1, .in, [1, .null], true),
    Case(1, .in, [], false),
    Case(1, .notIn, [2, .null], nil), Case(1, .notIn, [1, .null], false), Case(1, .notIn, [2], true),
    Case(.null, .in, [], false),
    Case(.null, .notIn, [], true), Case(.null, .is, .null, true), Case(true, .is, true, true),
    Case("true", .is, true, false),
    Case(.null, .isDistinct, .null, false), Case(1, .isDistinct, 1.0, false), Case(1, .isDistinct, "1", true),
    Case([1, 2, 3], .contains, [2], true), Case([1, 2, 3], .contains, 2, true),
    Case("[1,2,3]", .contains, [3.0, 1], true),
    Case(["a": ["b": 1, "c": 2]], .contains, ["a": ["c": 2]], true), Case(["a": 1], .contains, ["b": 1], false),
    Case("{\"a\":[1,2]}", .contains, ["a": [2]], true), Case([[1, 2]], .contains, [[2]], true),
    Case([[1, 2]], .contains, [2], false),
    Case([2], .containedBy, [1, 2], true), Case([2, 3], .containedBy, [1, 2], false),
    Case("[]", .containedBy, [1], true),
    Case("plain", .contains, "plain", true), Case([1, 2], .overlaps, [2, 3], true), Case([1], .overlaps, [2], false),
    Case("[1]", .overlaps, [1.0], true), Case(1, .overlaps, [1], false),
  ])
  func `each comparison answers as the table says`(_ row: Case) throws {
    let filter = Filter.column("x", row.comparison, row.operand)
    #expect(try filter.answer(["x": row.cell]) == row.answer)
    #expect(
      ModelFilter().answer(filter, ["x": row.cell]) == row.answer || row.cell == "é" || row.cell == .decimal("0.1")
        || row.cell == .int(9_007_199_254_740_993), "the model disagrees")
  }

  @Test func `search looks through strings and numbers with case ignored, textSearch through one column`() throws {
    let row: [String: Value] = ["a": "Milk and Honey", "b": 42, "c": true, "d": .null, "e": ["deep"]]
    let found = ["milk", "AND H", "42", " ", "2"]
    let missed = ["true", "deep", "bread"]
    for text in found { #expect(try Filter.search(text).answer(row) == true) }
    for text in missed { #expect(try Filter.search(text).answer(row) == false) }
    #expect(try Filter.textSearch("a", "honey milk", .plain).answer(row) == true)
    #expect(try Filter.textSearch("a", "honey milk", .phrase).answer(row) == false)
    #expect(try Filter.textSearch("a", "and honey", .phrase).answer(row) == true)
    #expect(try Filter.textSearch("a", "honey \"milk and\"", .websearch).answer(row) == true)
    #expect(try Filter.textSearch("a", "\"and milk\"", .websearch).answer(row) == false)
    #expect(try Filter.textSearch("a", "  ", .plain).answer(row) == true)
    #expect(try Filter.textSearch("d", "x", .plain).answer(row) == nil)
    #expect(try Filter.textSearch("e", "deep", .plain).answer(row) == false)
  }

  @Test(arguments: [
    Filter.column("x", .is, "null"), .column("x", .is, 1), .column("x", .in, 1), .column("x", .notIn, .null),
    .column("x", .like, 1), .column("x", .like, "a\\"), .column("x", .likeAllOf, "a"), .column("x", .likeAnyOf, [1]),
    .column("x", .match, "(a)\\1"), .column("x", .match, "a("), .column("x", .imatch, "(?=a)"), .column("x", .match, 5),
    .column("x", .overlaps, 1), .column("", .equals, 1), .and([.not(.or([.column("x", .in, "a")]))]),
    .textSearch("", "a", .plain),
    (0..<70).reduce(Filter.search("a")) { filter, _ in .not(filter) },
  ])
  func `a filter that means nothing is refused`(_ filter: Filter) {
    #expect {
      try filter.validate()
    } throws: { error in
      if case StoreError.invalidQuery = error { true } else { false }
    }
  }

  @Test(arguments: [
    Filter.and([]), .or([]), .search(" "), .textSearch("x", "", .phrase), .not(.and([.search("")])),
    .or([.column("x", .equals, 1), .or([])]),
  ])
  func `a filter that narrows down nothing is refused for writes and taken for reads`(_ filter: Filter) throws {
    try filter.validate()
    #expect(throws: StoreError.self) { try filter.validate(forWrite: true) }
  }

  @Test func `operands of equality are mapped at any depth, others left`() {
    let filter = Filter.and([
      .column("id", .equals, "A"), .not(.column("id", .in, ["B", "C"])), .column("id", .greaterThan, "D"),
      .column("x", .equals, "E"),
    ])
    let mapped = filter.mappingOperands(of: ["id"]) { value in
      if case .string(let text) = value { .string(text.lowercased()) } else { value }
    }
    #expect(
      mapped
        == .and([
          .column("id", .equals, "a"), .not(.column("id", .in, ["b", "c"])), .column("id", .greaterThan, "D"),
          .column("x", .equals, "E"),
        ]))
  }

  @Test(arguments: 0..<4)
  func `random filters answer as the model`(shard: Int) throws {
    for round in 0..<(2_000 * SoakScale.factor) {
      let seed = QueryScale.seed &* 1_000_003 &+ UInt64(shard * 1_000_000 + round)
      var random = RandomQueries(seed: seed)
      let filter = random.filter(depth: 3)
      let row = random.looseRow()
      #expect(try filter.answer(row) == ModelFilter().answer(filter, row), "seed \(seed): \(filter) of \(row)")
    }
  }
}
