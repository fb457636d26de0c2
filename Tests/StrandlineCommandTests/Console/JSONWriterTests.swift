import Testing

@testable import strandline

struct JSONWriterTests {
  @Test func `a line has no blanks and every kind of value`() {
    var json = JSONWriter()
    json.object {
      $0.field("a", 1)
      $0.field("b", "x\"\\\n\t\u{1}\u{7F}é")
      $0.field("c", Int?.none)
      $0.field("d", true)
      $0.field("e", 1.5)
      $0.field("f", Double.infinity)
      $0.name("g")
      $0.array {
        $0.value(UInt64.max)
        $0.array { _ in }
        $0.object { $0.field("h", String?.none) }
      }
    }
    json.endLine()
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"a":1,"b":"x\"\\\n\t\u0001\u007fé","c":null,"d":true,"e":1.5,"f":null,"#
        + #""g":[18446744073709551615,[],{"h":null}]}"# + "\n")
  }

  @Test func `a document is indented by two`() {
    var json = JSONWriter(.document)
    json.object {
      $0.field("a", 1)
      $0.name("b")
      $0.array {
        $0.value(2)
        $0.object { $0.field("c", 3) }
      }
      $0.name("d")
      $0.object { _ in }
    }
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == """
        {
          "a": 1,
          "b": [
            2,
            {
              "c": 3
            }
          ],
          "d": {}
        }
        """)
  }

  @Test(arguments: [
    (Array("grün".utf8), #"{"value":"grün"}"#), ([0xFF, 0x00], #"{"valueHex":"ff00"}"#), ([], #"{"value":""}"#),
    ([0xC0, 0x80], #"{"valueHex":"c080"}"#),
  ])
  func `bytes that are not UTF-8 are written as hexadecimal digits`(bytes: [UInt8], expected: String) {
    var json = JSONWriter()
    json.object { $0.field("value", utf8OrHex: bytes) }
    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
  }
}
