import Testing

@testable import strandline

struct ArgumentsTests {
  private static let specification = CommandSpecification(
    name: "brew", summary: "Brews.",
    positionals: [.init(name: "POT", summary: "Where."), .init(name: "CUP", summary: "More.", arity: .optional)],
    options: [.init("--batch", "N", summary: "How many."), .init("--strong", summary: "More."), .json])

  private func parse(_ words: String...) throws(UsageError) -> Arguments {
    try Arguments(parsing: words, for: Self.specification)
  }

  @Test func `options may stand anywhere and take their value from behind a blank or an equals sign`() throws {
    let first = try parse("--batch", "7", "pot", "--strong", "cup")
    #expect(first.positionals == ["pot", "cup"])
    #expect(first.has("--strong"))
    #expect(try first.integer("--batch", in: 1...9) == 7)
    #expect(try parse("--batch=7", "pot").value("--batch") == "7")
    #expect(try parse("pot", "--batch=").value("--batch") == "")
    #expect(try parse("pot", "--batch", "-3").value("--batch") == "-3")
  }

  @Test func `two dashes end the options and one dash is an argument`() throws {
    #expect(try parse("--", "--batch", "-x").positionals == ["--batch", "-x"])
    #expect(try parse("-").positionals == ["-"])
  }

  @Test(arguments: [
    (["pot", "--btch", "1"], UsageError.unknownOption("--btch", suggestion: "--batch")),
    (["pot", "--quite-other"], .unknownOption("--quite-other", suggestion: nil)),
    (["pot", "-x"], .unknownOption("-x", suggestion: nil)),
    (["pot", "--batch"], .missingValue(option: "--batch", valueName: "N")),
    (["pot", "--batch", "--json"], .missingValue(option: "--batch", valueName: "N")),
    (["pot", "--json=yes"], .unexpectedValue(option: "--json")),
    (["pot", "--json", "--json"], .repeatedOption("--json")),
    ([], .missingArgument("POT")),
    (["pot", "cup", "saucer"], .extraArgument("saucer")),
    ([""], .invalidArgument(name: "POT", value: "", expected: "a path")),
    (["pot", ""], .invalidArgument(name: "CUP", value: "", expected: "a path")),
  ])
  func `a mistake has its own error`(words: [String], expected: UsageError) {
    #expect(throws: expected) { try Arguments(parsing: words, for: Self.specification) }
  }

  @Test func `an option that is required is asked for, and stands without brackets in the usage`() throws {
    let specification = CommandSpecification(
      name: "pour", summary: "Pours.",
      options: [.init("--slow", summary: "Less."), .init("--to", "CUP", summary: "Where.", isRequired: true)])
    #expect(throws: UsageError.missingOption("--to", valueName: "CUP")) {
      try Arguments(parsing: [], for: specification)
    }
    #expect(try Arguments(parsing: ["--to", "mug"], for: specification).value("--to") == "mug")
    #expect(HelpPage.text(of: specification, path: ["pour"]).contains("Usage: pour --to CUP [--slow]\n"))
  }

  @Test(arguments: ["0", "10", "x", "", "1.5", "99999999999999999999", "+", "0x3"])
  func `a number outside its range is refused`(text: String) throws {
    let arguments = try parse("pot", "--batch=\(text)")
    #expect(throws: UsageError.self) { try arguments.integer("--batch", in: 1...9) }
  }

  private enum Roast: String, CaseIterable { case light, dark }

  @Test func `a choice names what it allows`() throws {
    #expect(try parse("pot", "--batch", "dark").choice("--batch", as: Roast.self) == .dark)
    #expect(throws: UsageError.invalidValue(option: "--batch", value: "burnt", expected: "one of light, dark")) {
      try parse("pot", "--batch", "burnt").choice("--batch", as: Roast.self)
    }
    #expect(throws: UsageError.conflict("--batch", "--json")) {
      try parse("pot", "--json", "--batch", "1").requireAtMostOne(of: "--batch", "--json")
    }
  }
}
