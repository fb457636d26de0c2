import StrandlineTestSupport
import Testing

@testable import Strandline

struct JSONTests {
  @Test(
    arguments: [
      ("null", Value.null), (" true ", true), ("false", false), ("0", 0), ("-0", 0),
      ("9223372036854775807", .int(.max)),
      ("9223372036854775808", .decimal("9223372036854775808")), ("1.5", 1.5), ("1e3", 1000.0), ("1E+3", 1000.0),
      ("-1.25e-2", -0.0125),
      (#""""#, ""), (#""a\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#, "a\"\\/\u{8}\u{C}\n\r\tAé😀"), ("[]", []),
      ("[ ]", []),
      ("[1, [2], {}]", [1, [2], [:]]), (#"{"a":1,"b":{"c":null}}"#, ["a": 1, "b": ["c": .null]]), ("\t{\n}\r", [:]),
      (#""\u0000""#, "\0"), (#""é""#, "é"),
    ] as [(String, Value)])
  func `JSON is read`(text: String, value: Value) throws { #expect(try Value.json(text) == value) }

  @Test(arguments: [
    "", " ", "nul", "truee", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "1e999", "NaN", "'a'", #"""#, #""\x""#,
    #""\u12""#,
    #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud83dx""#, "\"\u{1}\"", "[", "[1", "[1,", "[1,]", "[,]", "{",
    #"{"a""#, #"{"a":"#,
    #"{"a":1,}"#, "{a:1}", #"{"a":1,"a":2}"#, "{\"é\":1,\"e\u{301}\":2}", "1 2", "[1]]", "\u{FEFF}1", #""\uD83D\u""#,
    #""\"#, #""\u００00""#,
  ])
  func `what is no JSON is refused with its place`(text: String) throws {
    let error = try #require(throws: StoreError.self) { try Value.json(text) }
    guard case .coding(type: "JSON", let path, let reason) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(path.hasPrefix("byte ") && !reason.isEmpty)
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    for text: [UInt8] in [
      [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22], [0xFF], [0x22, 0xED, 0xA0, 0x80, 0x22],
    ] {
      #expect(throws: StoreError.self) { try Value.json(text) }
    }
  }

  @Test func `nesting ends at 64`() throws {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    _ = try Value.json(nested(64))
    #expect(throws: StoreError.self) { try Value.json(nested(65)) }
    #expect(throws: StoreError.self) { try Value.json(String(repeating: "[", count: 1_000_000)) }
    #expect(throws: StoreError.self) { try Value.json(String(repeating: #"{"a":"#, count: 1_000_000)) }
  }

  @Test(
    arguments: [
      (Value.null, "null"), (.double(5), "5.0"), (.double(1e16), "1e+16"), (.double(.nan), #""NaN""#),
      (.double(-.infinity), #""-Infinity""#),
      (.decimal("1.50"), #""1.50""#), (.bytes([0xFF, 0xFE]), #""//4=""#),
      (.string("\u{1}\u{1F}\n\"\\/é"), #""\u0001\u001f\n\"\\/é""#),
      (["b": 1, "a": [true, .null]], #"{"a":[true,null],"b":1}"#), (.timestamp(0), #""1970-01-01T00:00:00.000Z""#),
    ] as [(Value, String)])
  func `JSON is written`(value: Value, text: String) { #expect(value.json == text) }

  @Test func `a row is an object`() {
    var text: [UInt8] = []
    (["b": 1, "a": "x"] as Row).appendJSON(to: &text)
    #expect(String(decoding: text, as: UTF8.self) == #"{"a":"x","b":1}"#)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `random bytes, and JSON with a byte changed, are read or refused`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<3000 {
      var text: [UInt8] = []
      random.value().appendJSON(to: &text)
      if let value = try? Value.json(text) {
        #expect((try? Value.json(value.json)) == value)
      } else {
        Issue.record("\(text)")
      }
      text[random.int(text.count)] = UInt8(random.int(256))
      _ = try? Value.json(text)
      _ = try? Value.json(Array(text.prefix(random.int(text.count))))
    }
  }
}
