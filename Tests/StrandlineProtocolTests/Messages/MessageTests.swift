import StrandlineProtocol
import Testing

@Suite("Messages") struct MessageTests {
  @Test("a defect of the whole message names no place")
  func defect() {
    #expect("\(MessageDefect(path: "", reason: "an object is wanted"))" == "an object is wanted")
    #expect("\(MessageDefect(path: "rows[3]", reason: "is missing"))" == "rows[3]: is missing")
  }

  @Test("what is read and written again is the same JSON")
  func roundTrips() throws {
    let push = #"""
      {"client_id":"c","schema_version":3,"last_mutation_id":null,"batch":{"atomic":true,"mutations":[
       {"mutation_id":"m","table":"t","pk":"p","op":"update","columns":{"n":12345678901234567890123},"precondition":{"a":null},
        "hlc":"2026-01-01T00:00:01.000Z|0|n","transforms":{"k":{"op":"increment","by":1}}}]}}
      """#
    #expect(try PushRequest(body: Array(push.utf8)).json == Value.json(push))
    let body = try PushRequest(body: Array(push.utf8)).body
    #expect(String(decoding: body, as: UTF8.self).contains("\"n\":12345678901234567890123"))

    let page = #"""
      {"cursor":"1:2","has_more":true,"signal":null,"rows":[{"table":"t","pk":"p","seq":"2","row":{"a":[1,2.5]}}],
       "tombstones":[{"table":"t","pk":"q","seq":"1","deleted_at":null}],
       "conflicts":[{"table":"t","pk":"p","column_name":"a","loser_value":1,"winner_mutation_id":"m","conflict_mode":"arrival",
        "winner_seq":"2"}]}
      """#
    #expect(try PullAnswer(json: Value.json(page)).json == Value.json(page))
  }

  @Test("an applied verdict has no keys of a rejected one, a rejected one always has its row")
  func verdicts() {
    let answer = PushAnswer(verdicts: [.applied("a"), .rejected("b", .constraint, serverRow: nil)])
    #expect(
      answer.json == [
        "verdicts": [
          ["mutation_id": "a", "verdict": "applied"],
          ["mutation_id": "b", "verdict": "rejected", "reason": "CONSTRAINT", "server_row": .null],
        ]
      ])
  }

  @Test("words are kept for the guards, missing ones are strangers")
  func strangers() throws {
    let answer = try PushAnswer(json: ["verdicts": [["mutation_id": "a"]], "batch": .null, "signal": ["type": "LATER"]])
    #expect(answer.verdicts == [.init(mutationID: "a", kind: "")])
    #expect(answer.abort == nil)
    #expect(answer.signal == "LATER")
  }

  @Test("a signal is an object with its type, in the answer to a pull as in that to a push")
  func signals() throws {
    let page = PullAnswer(cursor: "7", signal: "CHECKPOINT_EXPIRED")
    let json = try Value.json(
      #"{"cursor":"7","has_more":false,"rows":[],"tombstones":[],"signal":{"type":"CHECKPOINT_EXPIRED"}}"#)
    #expect(page.json == json)
    #expect(try PullAnswer(json: json) == page)
    #expect(PushAnswer(signal: .resetRequired).json == ["signal": ["type": "RESET_REQUIRED"]])
    #expect(try PushAnswer(json: ["signal": [:]]).signal == "")
  }

  @Test("which refusals are for good")
  func permanence() {
    for code in ["22023", "23505", "42P01", "P0001", "0A000", "KZP01", "KZP02", "KZL01"] {
      #expect(TransportCode(rawValue: code).isPermanent, "\(code)")
    }
    for code in ["42501", "PGRST301", "PGRST106", "KZP03", "AUTH_SESSION_MISSING", "", "23", "P0002", "2302"] {
      #expect(!TransportCode(rawValue: code).isPermanent, "\(code)")
    }
  }

  @Test("an anchor has one text")
  func anchors() {
    let text = "0123456789abcdef0123456789abcdef;42;00000000000000ff"
    #expect(HistoryAnchor(text)?.description == text)
    for other in ["", text + " ", text.uppercased(), "0123456789abcdef0123456789abcdef;042;00000000000000ff"] {
      #expect(HistoryAnchor(other) == nil)
    }
  }
}

@Suite("Stamps") struct HybridTimestampTests {
  @Test func order() throws {
    let texts = [
      "2026-01-01T00:00:01.000Z|2|a", "2026-01-01T00:00:01.000Z|10|a", "2026-01-01T00:00:01.000Z|10|b",
      "2026-01-01T00:00:01.001Z|0|a",
    ]
    let stamps = try texts.map { try #require(HybridTimestamp($0)) }
    #expect(stamps == stamps.sorted() && stamps.map(\.description) == texts)
  }

  @Test(
    arguments: [
      "", "2026-01-01T00:00:01Z|0|a", "2026-01-01T00:00:01.000Z|-1|a", "2026-01-01T00:00:01.000Z|0|",
      "2026-13-01T00:00:01.000Z|0|a",
      "2026-01-01T00:00:01.000Z|0", "2026-01-01T00:00:01.000Z|0|a|b",
    ])
  func refused(text: String) { #expect(HybridTimestamp(text) == nil) }
}
