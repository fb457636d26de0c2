import StrandlineProtocol
import Testing

@Suite("Names of columns") struct ColumnRulesTests {
  @Test(
    "what is a name",
    arguments: [
      "a", " ", "é", "a\u{1}", "\u{2}", String(repeating: "x", count: 256), String(repeating: "\0", count: 85),
    ])
  func names(text: String) { #expect(ColumnRules.isName(text)) }

  @Test(
    "what is none",
    arguments: [
      "", "\u{1}", "\u{1}pk", String(repeating: "x", count: 257), String(repeating: "é", count: 129),
      String(repeating: "\0", count: 86),
    ])
  func others(text: String) { #expect(!ColumnRules.isName(text)) }
}
