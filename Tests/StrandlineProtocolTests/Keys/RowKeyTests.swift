import StrandlineProtocol
import Testing

@Suite("Texts of primary keys") struct RowKeyTests {
  @Test("several components are an array with a comma and a blank, and only JSON's escapes")
  func composite() {
    #expect(RowKey.text(of: ["12", "A7"]) == #"["12", "A7"]"#)
    #expect(RowKey.text(of: ["a/b", "\"\\\n\u{01}é"]) == #"["a/b", "\"\\\n\u0001é"]"#)
  }

  @Test("a lone component stands as it is, whatever it looks like")
  func lone() {
    #expect(RowKey.text(of: [#"["x"]"#]) == #"["x"]"#)
    #expect(RowKey.components(of: #"["x"]"#, count: 1) == [#"["x"]"#])
    #expect(RowKey.components(of: "", count: 1) == nil)
  }

  @Test(
    "only the canonical text of as many components is a key",
    arguments: [
      #"["12","A7"]"#, #"["12", "A7"] "#, #"["12"]"#, #"[12, "A7"]"#, #"["12", "\u00e9"]"#, #"["12", "a\/b"]"#, "12",
      "",
      #"["a", "b", "c"]"#,
    ])
  func refused(text: String) { #expect(RowKey.components(of: text, count: 2) == nil) }

  @Test("what is written is read again")
  func roundTrip() {
    for components in [["", ""], ["12", "A7"], ["\u{7F}\u{1F}", "\u{2028}"], ["\"", "\\"]] {
      #expect(RowKey.components(of: RowKey.text(of: components), count: 2) == components)
    }
  }

  @Test("UUIDs are in lower case, everything else stays")
  func uuids() {
    #expect(RowKey.component("3F9C6A1E-52D7-4C0B-8A44-7B1D90E2C6F5") == "3f9c6a1e-52d7-4c0b-8a44-7b1d90e2c6f5")
    #expect(RowKey.component("ABC") == "ABC")
    #expect(RowKey.component(-7) == "-7")
    #expect(RowKey.component(.bool(true)) == nil)
    #expect(RowKey.component(1.5) == nil)
  }
}

@Suite("Cursors as the server reads them") struct CursorTokenTests {
  @Test(arguments: ["0", "7", "3:7", "7:3", "0:9", "9~1.8", "5:9~2", "9223372036854775807"])
  func accepted(text: String) { #expect(CursorToken(text)?.description == text) }

  @Test(
    arguments: [
      "", "-1", "+1", "01", " 1", "1 ", "1:2:3", ":1", "1:", "9~", "9~0", "9~9", "9~3.2", "9~3.3", "9~3.", "9~.3",
      "9~03", "x",
      "9223372036854775808", "1~", "٣", "9~1~2",
    ])
  func refused(text: String) { #expect(CursorToken(text) == nil) }

  @Test func holesAreUndelivered() throws {
    let token = try #require(CursorToken("9~2.5"))
    #expect([1, 2, 5, 9, 10].map(token.isUndelivered) == [false, true, true, false, true])
  }
}
