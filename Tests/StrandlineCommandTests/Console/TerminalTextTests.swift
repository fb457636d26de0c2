import Testing

@testable import strandline

struct TerminalTextTests {
  @Test(arguments: [
    ("plain ünï 漢字 🌊", "plain ünï 漢字 🌊"), ("\u{1B}]0;title\u{7}", "\\x1b]0;title\\x07"),
    ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
    ("back\\slash", "back\\\\slash"), ("\u{9B}31m", "\\u{009b}31m"), ("a\u{202E}b", "a\\u{202e}b"), ("", ""),
  ])
  func `nothing in data can steer a terminal`(text: String, escaped: String) {
    #expect(TerminalText.escaped(text) == escaped)
    #expect(TerminalText.escaped(Array(text.utf8)) == escaped)
  }

  @Test func `bytes that are not UTF-8 are shown one by one`() {
    #expect(TerminalText.escaped([0x61, 0xFF, 0xC3, 0x28, 0xE2, 0x82]) == "a\\xff\\xc3(\\xe2\\x82")
    #expect(TerminalText.escaped([0xED, 0xA0, 0x80]) == "\\xed\\xa0\\x80")
    #expect(TerminalText.escaped(Array("ä".utf8) + [0xE2] + Array("b\u{7}".utf8)) == "ä\\xe2b\\x07")
  }

  @Test func `a progress line has a bar, or a count where the total is not known`() {
    #expect(ProgressBar.line(label: "load", done: 1200, total: nil) == "load 1,200")
    let half = String(repeating: "█", count: 15) + String(repeating: "░", count: 15)
    #expect(ProgressBar.line(label: "load", done: 50, total: 100) == "load \(half)  50 %  50 of 100")
    #expect(ProgressBar.line(label: "load", done: 500, total: 100).contains("100 %"))
  }

  @Test func `colour is used only where it was allowed`() {
    let plain = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    #expect(plain.styled(.red, "x") == "x")
    let colored = Console(out: Output(descriptor: nil), err: Output(descriptor: nil), usesColor: true)
    #expect(colored.styled(.red, "x") == "\u{1B}[31mx\u{1B}[0m")
  }
}
