import StrandlineTestSupport
import Testing

@testable import strandline

struct ChangelogParserTests {
  private static let good = """
    zlib (1:1.2.13.dfsg-1) unstable; urgency=low

      * New upstream release.
      * Remove non-DFSG sources
        for contrib/testzlib (closes: #1012674).

     -- Mark Brown <broonie@debian.org>  Sat, 05 Nov 2022 12:24:46 +0000

    zlib (1:1.2.11.dfsg-4.1) unstable bookworm; urgency=HIGH (security), binary-only=yes

      [ Salvatore Bonaccorso ]
      * Closes: #1, bug#2,
        #3 and also closes: 2, 99

     -- Salvatore Bonaccorso <carnil@debian.org>  Fri, 12 Aug 2022 22:15:03 +0200

    """

  private func parse(_ text: String) -> ChangelogParser.Result? { ChangelogParser.parse(Array(text.utf8)) }

  @Test func `an entry has all its parts`() throws {
    let result = try #require(parse(Self.good))
    #expect(result.malformedCount == 0)
    #expect(
      result.entries == [
        ChangelogEntry(
          package: "zlib", version: "1:1.2.13.dfsg-1", distributions: ["unstable"], urgency: "low",
          lines: [
            "* New upstream release.", "* Remove non-DFSG sources", "  for contrib/testzlib (closes: #1012674).",
          ],
          closedBugs: [1_012_674], maintainerName: "Mark Brown", maintainerMail: "broonie@debian.org",
          date: 1_667_651_086_000),
        ChangelogEntry(
          package: "zlib", version: "1:1.2.11.dfsg-4.1", distributions: ["unstable", "bookworm"], urgency: "high",
          lines: ["[ Salvatore Bonaccorso ]", "* Closes: #1, bug#2,", "  #3 and also closes: 2, 99"],
          closedBugs: [1, 2, 3, 99], maintainerName: "Salvatore Bonaccorso", maintainerMail: "carnil@debian.org",
          date: 1_660_335_303_000),
      ])
  }

  @Test func `line ends of other systems and a missing last one change nothing`() {
    #expect(parse(Self.good.replacing("\n", with: "\r\n")) == parse(Self.good))
    #expect(parse(String(Self.good.drop { $0 == "\n" }.dropLast())) == parse(Self.good))
    #expect(parse("\n\n" + Self.good) == parse(Self.good))
  }

  @Test(arguments: [
    // A heading without a trailer, followed by another entry, and at the end of the file.
    ("broken (1) unstable; urgency=low\n\n  * Lost.\n\n" + good, 2, 1),
    (good + "\nbroken (1) unstable; urgency=low\n\n  * Lost.\n", 2, 1),
    // A trailer with no date, with a date that cannot be, with no address, and alone.
    ("b (1) sid; urgency=low\n\n  * x\n\n -- A <a@b>\n\n" + good, 2, 1),
    ("b (1) sid; urgency=low\n\n  * x\n\n -- A <a@b>  Mon, 31 Feb 2022 00:00:00 +0000\n\n" + good, 2, 1),
    ("b (1) sid; urgency=low\n\n  * x\n\n -- A  Mon, 01 Feb 2022 00:00:00 +0000\n\n" + good, 2, 1),
    (good + "\n -- A <a@b>  Mon, 01 Feb 2022 00:00:00 +0000\n", 2, 1),
    (good + "\n --\n", 2, 1),
    // Text between entries is one block, whatever its length.
    (good + "\nOnce upon a time\nthere was a package\n\n" + good, 4, 1),
    // A heading that is none, with body and trailer, is one entry lost.
    (
      "x (1) sid; urgency=low\n -- A <a@b>  Mon, 01 Feb 2022 00:00:00 +0000\nb 1 sid\n\n  * x\n\n -- A <a@b>  1\n", 1, 1
    ),
    // What editors leave behind is nothing.
    (good + "\nLocal variables:\nmode: debian-changelog\nEnd:\n", 2, 0),
    (good + "\n# vim: tw=72\n\n$Id$\n", 2, 0),
    // A word at the first column in the middle of an entry belongs to the entry.
    ("b (1) sid; urgency=low\n\nNot indented.\n\n -- A <a@b>  Mon, 01 Feb 2022 00:00:00 +0000\n", 1, 0),
  ])
  func `what is malformed is counted and the entries around it are kept`(
    text: String, entryCount: Int, malformedCount: Int
  ) throws {
    let result = try #require(parse(text))
    #expect(result.entries.count == entryCount)
    #expect(result.malformedCount == malformedCount)
  }

  @Test(arguments: [
    "2022-11-05  Somebody  <a@b>\n\n\t* file.c: Change.\n", "Version 1.2; released\n", "a (b c) d; x\n",
    "pkg 1.0 unstable;\n",
    "pkg () unstable;\n", "; \n", "\u{0}\u{0}\u{0}", "",
  ])
  func `a file that begins differently is no changelog`(text: String) {
    #expect(parse(text) == (text.isEmpty ? ChangelogParser.Result() : nil))
  }

  @Test func `bytes that are not UTF-8 are read as Latin-1`() throws {
    let text = "b (1) sid; urgency=low\n\n  * G\u{FC}nther.\n\n -- J\u{F6}rg <j@b>  Mon, 01 Feb 2022 00:00:00 +0000\n"
    let result = try #require(ChangelogParser.parse(text.unicodeScalars.map { UInt8($0.value) }))
    #expect(result.entries.first?.lines == ["* Günther."])
    #expect(result.entries.first?.maintainerName == "Jörg")
  }

  @Test func `no urgency is no urgency`() throws {
    let result = try #require(parse("b (1) sid;\n\n -- A <a@b>  Mon, 01 Feb 2022 00:00:00 +0000\n"))
    #expect(result.entries.first?.urgency == nil)
    #expect(result.entries.first?.lines == [])
  }

  @Test(arguments: [UInt64(1), 7, 42])
  func `no damage makes the parser fail`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var bytes = Array(Self.good.utf8)
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
        default: bytes.removeLast(Int.random(in: 0..<bytes.count / 4, using: &random))
        }
      }
      if let result = ChangelogParser.parse(bytes) { #expect(result.entries.count <= 2) }
    }
  }

  @Test(arguments: [
    ("closes: #12", [12]), ("CLOSES:12", [12]), ("(Closes: Bug#12, bug 13,#14)", [12, 13, 14]),
    ("closes: #12 and #13", [12]), ("closes: LP: #12", []), ("closes #12", []), ("encloses: #5", [5]),
    ("closes:", []), ("closes: #", []), ("closes: #99999999999999999999, #7", [7]), ("Closes: #1; closes: #1", [1]),
    ("fixed: closes: #3,", [3]),
  ])
  func `closed bugs are found as the policy says`(text: String, bugs: [Int]) {
    #expect(ClosedBugs.numbers(in: Array(text.utf8)) == bugs)
  }

  @Test(
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 +0000", 0), ("Thu,  1 Jan 1970 01:00:00 +0100", 0),
      ("31 Dec 1969 23:59:59 GMT", -1000), ("Mon, 28 Feb 2000 23:00 -0130", 951_784_200_000),
      ("Tue, 29 feb 2000 00:30:00 UTC (CET)", 951_784_200_000), ("Wed, 03 Sep 97 10:00:00 EDT", 873_295_200_000),
      ("Sat, 1 Sept 2001 00:00:00 XYZ", 999_302_400_000), ("Sat, 31 Dec 2016 23:59:60 +0000", 1_483_228_800_000),
      ("Sat, 1 Sep 2001", nil), ("Sat, 32 Sep 2001 00:00:00 +0000", nil), ("Sat, 29 Feb 1900 00:00:00 +0000", nil),
      ("1 Sep 2001 24:00:00 +0000", nil), ("1 Sep 2001 1:2:3:4 +0000", nil), ("1 Sep 2001 00:00:00 +00", nil),
      ("1 Sep 99999 00:00:00 +0000", nil), ("1 S 2001 00:00:00 +0000", nil), ("-1 Sep 2001 00:00:00 +0000", nil),
      ("", nil),
    ] as [(String, Int64?)])
  func `dates are read as RFC 2822 and its elders write them`(text: String, milliseconds: Int64?) {
    #expect(MailDate.milliseconds(of: text.utf8) == milliseconds)
  }
}
