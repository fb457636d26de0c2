import StrandlineTestSupport
import Testing

@testable import Strandline

struct LikePatternTests {
  @Test func `random patterns match as the model`() throws {
    var generator = SeededGenerator(seed: QueryScale.seed)
    let alphabet: [Unicode.Scalar] = ["a", "b", "é", "😀"]
    for round in 0..<(20_000 * SoakScale.factor) {
      let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in alphabet.randomElement(using: &generator)! }
      let pattern = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
        (alphabet + ["%", "%", "_"]).randomElement(using: &generator)!
      }
      let matches = try LikePattern(Self.string(pattern), ignoringCase: false).matches(Self.string(text))
      #expect(matches == ModelFilter.isLike(pattern[...], text[...]), "seed \(QueryScale.seed), round \(round)")
    }
  }

  @Test func `a pattern that is hard to match does not explode`() throws {
    let pattern = try LikePattern(String(repeating: "%a", count: 200) + "%b", ignoringCase: false)
    #expect(!pattern.matches(String(repeating: "a", count: 20_000)))
  }

  @Test func `the literal beginning of a pattern is known`() throws {
    #expect(try LikePattern("ab\\%c%d", ignoringCase: false).literalPrefix == Array("ab%c".utf8))
    #expect(try !LikePattern("ab%", ignoringCase: false).isLiteral)
    #expect(try LikePattern("ab\\_", ignoringCase: false).isLiteral)
    #expect(try LikePattern("ab", ignoringCase: true).literalPrefix.isEmpty)
  }

  private static func string(_ scalars: [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}
