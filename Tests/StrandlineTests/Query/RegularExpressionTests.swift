import StrandlineTestSupport
import Testing

@testable import Strandline

struct RegularExpressionTests {
  struct Case: Sendable {
    var pattern: String
    var found: [String]
    var missed: [String]
  }

  @Test(arguments: [
    Case(pattern: "abc", found: ["abc", "xabcx"], missed: ["ab", "ABC", ""]),
    Case(pattern: "", found: ["", "a"], missed: []),
    Case(pattern: "^a.c$", found: ["abc", "a\nc", "a😀c"], missed: ["abcd", "ac"]),
    Case(pattern: "a|bc|", found: ["", "x"], missed: []),
    Case(pattern: "^(a|bc)+$", found: ["a", "abc", "bcbca"], missed: ["", "ab", "abcb"]),
    Case(pattern: "^a{2,3}$", found: ["aa", "aaa"], missed: ["a", "aaaa"]),
    Case(pattern: "^a{2,}?$", found: ["aa", "aaaaa"], missed: ["a"]),
    Case(pattern: "a{x", found: ["a{x"], missed: ["ax"]),
    Case(pattern: "[a-c]", found: ["b"], missed: ["d", "-"]),
    Case(pattern: "[a-]", found: ["-", "a"], missed: ["b"]),
    Case(pattern: "[]a]", found: ["]", "a"], missed: ["["]),
    Case(pattern: "[^a-c]", found: ["d", "é"], missed: ["abc", ""]),
    Case(pattern: "[[:alpha:]_]", found: ["é", "_"], missed: ["1", " "]),
    Case(pattern: "[^[:space:]]", found: ["a"], missed: [" \t\n"]),
    Case(pattern: "[\\d\\s]", found: ["7", " "], missed: ["a"]),
    Case(pattern: "^\\w+\\W\\w+$", found: ["ab cd", "é-1"], missed: ["abcd", "a  b"]),
    Case(pattern: "\\bcat\\b", found: ["a cat!", "cat"], missed: ["concat", "cats"]),
    Case(pattern: "\\mcat", found: ["cats"], missed: ["concat"]),
    Case(pattern: "cat\\M", found: ["concat"], missed: ["cats"]),
    Case(pattern: "\\Acat\\z", found: ["cat"], missed: ["cats"]),
    Case(pattern: "\\x41\\u00e9\\x{1F600}\\.", found: ["Aé😀."], missed: ["Aé😀x"]),
    Case(pattern: "(?:ab)*c(?<name>d)?", found: ["c", "ababcd"], missed: ["ab"]),
    Case(pattern: "(a*)*b", found: ["aaab", "b"], missed: ["aaa"]),
    Case(pattern: "[\\x00-\\x1f]", found: ["a\tb"], missed: ["ab"]),
  ])
  func `patterns find what they should`(_ row: Case) throws {
    let expression = try RegularExpression(row.pattern, ignoringCase: false)
    for text in row.found { #expect(expression.matches(text), "\(row.pattern) in \(text)") }
    for text in row.missed { #expect(!expression.matches(text), "\(row.pattern) in \(text)") }
  }

  @Test func `case is ignored when asked`() throws {
    for (pattern, text) in [
      ("aBc", "AbC"), ("[a-c]+", "ABC"), ("é", "É"), ("[[:upper:]]", "a"), ("\\u00c9", "é"), ("[Σ]", "σ"),
    ] {
      #expect(try RegularExpression(pattern, ignoringCase: true).matches(text), "\(pattern) in \(text)")
    }
    #expect(try !RegularExpression("[^a]", ignoringCase: true).matches("A"))
  }

  @Test(arguments: [
    "(a)\\1", "\\k<n>", "(?P=n)", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a", "a)", "[a", "*a", "a**", "a{3,2}",
    "a{9999}", "\\", "\\q",
    "[b-a]", "[[:nope:]]", "(?x)a", "^*", "((((((a{1000}){1000}){1000}){1000}){1000}){1000})", "\\xZZ", "\\x{110000}",
    String(repeating: "(", count: 5_000) + "a" + String(repeating: ")", count: 5_000),
  ])
  func `what cannot be read is refused`(_ pattern: String) {
    #expect(throws: StoreError.self, "\(pattern.prefix(40))") { try RegularExpression(pattern, ignoringCase: false) }
  }

  @Test func `repeated nothing is read in no time`() throws {
    #expect(try RegularExpression("(((((){1000}){1000}){1000}){1000}){1000}", ignoringCase: false).matches(""))
  }

  @Test func `a pattern that makes others backtrack takes linear time`() throws {
    let expression = try RegularExpression("(a+)+$", ignoringCase: false)
    #expect(!expression.matches(String(repeating: "a", count: 50_000) + "b"))
  }

  @Test func `random patterns find what Swift's own engine finds`() throws {
    var generator = SeededGenerator(seed: QueryScale.seed)
    for round in 0..<(3_000 * SoakScale.factor) {
      let pattern = Self.pattern(depth: 3, &generator)
      let expression = try RegularExpression(pattern, ignoringCase: false)
      let swift = try Regex(pattern).matchingSemantics(.unicodeScalar)
      for _ in 0..<5 {
        let text = String(
          (0..<Int.random(in: 0...7, using: &generator)).map { _ in "abc ".randomElement(using: &generator)! })
        #expect(
          expression.matches(text) == (text.firstMatch(of: swift) != nil),
          "seed \(QueryScale.seed), round \(round): \(pattern) in '\(text)'")
      }
    }
  }

  private static func pattern(depth: Int, _ generator: inout SeededGenerator) -> String {
    let inner = { (generator: inout SeededGenerator) in pattern(depth: depth - 1, &generator) }
    switch depth == 0 ? 0 : Int.random(in: 0...9, using: &generator) {
    case 0, 1: return ["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\s"].randomElement(using: &generator)!
    case 2: return "(" + inner(&generator) + "|" + inner(&generator) + ")"
    case 3: return "(" + inner(&generator) + ")*"
    case 4: return "(?:" + inner(&generator) + "){1,2}"
    case 5: return "(" + inner(&generator) + ")?"
    case 6: return "^" + inner(&generator)
    case 7: return inner(&generator) + "$"
    default: return inner(&generator) + inner(&generator)
    }
  }
}
