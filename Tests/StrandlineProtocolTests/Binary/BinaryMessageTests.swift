@_spi(Engine) import Strandline
import StrandlineTestSupport
import Testing

@testable import StrandlineProtocol

@Suite("Binary messages") struct BinaryMessageTests {
  @Test(arguments: UInt64(1)...200)
  func `a message in its binary form is the message that JSON would bring`(seed: UInt64) throws {
    var maker = MessageMaker(seed: seed)
    try expectSame(maker.pullRequest())
    try expectSame(maker.pullAnswer())
    try expectSame(maker.pushRequest())
    try expectSame(maker.pushAnswer())
  }

  private func expectSame<Message: BinaryMessage>(_ message: Message) throws {
    let fromJSON = try Message(body: message.body)
    let fromBinary = try Message(binary: message.binary, contentByteCountMax: 1 << 20)
    #expect(fromBinary == fromJSON)
    #expect(fromBinary.binary == message.binary)
  }

  @Test func `the same message is the same bytes, whatever order its dictionaries have`() {
    for count in 1...40 {
      let names = (0..<count).map { "column \($0 * 7919 % 101)" }
      let row = Dictionary(uniqueKeysWithValues: names.map { ($0, Value.string($0)) })
      let other = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, Value.string($0)) })
      func page(_ row: [String: Value]) -> PullAnswer {
        PullAnswer(cursor: "1", rows: [.init(table: "t", pk: "p", row: row, seq: "1")])
      }
      #expect(page(row).binary == page(other).binary)
    }
  }

  @Test func `these bytes are version 1 for ever`() throws {
    let answer = PullAnswer(
      cursor: "0:7", hasMore: true,
      rows: [
        .init(table: "todos", pk: "p", row: ["n": 1, "t": "x"], seq: "7"),
        .init(table: "todos", pk: "q", row: [:], seq: ""),
      ])
    let content: [UInt8] = [
      3, 5, 0x74, 0x6F, 0x64, 0x6F, 0x73, 1, 0x6E, 1, 0x74,
      3, 0x30, 0x3A, 0x37, 1, 0, 2,
      0, 1, 0x70, 0, 7, 0, 2, 1, 3, 2, 2, 6, 1, 0x78,
      0, 1, 0x71, 1, 0, 0, 0, 0, 0,
    ]
    #expect(answer.binary == Forgery.frame(kind: 2, form: 0, contentByteCount: 41, stored: content))
    #expect(Array(answer.binary.prefix(16)) == [0x53, 0x4C, 0x4D, 0x42, 1, 2, 0, 0, 41, 0, 0, 0, 41, 0, 0, 0])
  }

  @Test func `names that differ in bytes alone stay apart`() throws {
    let answer = PullAnswer(
      cursor: "1",
      tombstones: [
        .init(table: "\u{E9}", pk: "p", seq: "1", deletedAt: nil),
        .init(table: "e\u{301}", pk: "p", seq: "1", deletedAt: nil),
      ])
    let read = try PullAnswer(binary: answer.binary, contentByteCountMax: 1 << 20)
    #expect(Array(read.tombstones[0].table.utf8) == Array("\u{E9}".utf8))
    #expect(Array(read.tombstones[1].table.utf8) == Array("e\u{301}".utf8))
  }

  @Test func `a page of like rows becomes small`() {
    let rows = (0..<500).map { number in
      PullAnswer.RowEntry(
        table: "todos", pk: "\(number)", row: ["title": "milk and bread", "done": false, "n": .int(Int64(number))],
        seq: "\(number)")
    }
    let answer = PullAnswer(cursor: "500", rows: rows)
    #expect(answer.binary.count * 4 < answer.body.count)
  }

  @Test func `every cut and every flipped bit is refused`() {
    let binary = MessageMaker.todos(12).binary
    for count in 0..<binary.count { expectRefused(Array(binary[..<count])) }
    for bit in 0..<binary.count * 8 {
      var damaged = binary
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      expectRefused(damaged)
    }
    expectRefused(binary + [0])
    expectRefused(MessageMaker.todos(12).body)
  }

  private func expectRefused(_ bytes: [UInt8]) {
    #expect(throws: MessageDefect.self) { try PullAnswer(binary: bytes, contentByteCountMax: 1 << 20) }
  }

  @Test func `another message, a larger content and one that claims to be large are refused`() throws {
    let answer = MessageMaker.todos(100)
    #expect(throws: MessageDefect.self) { try PushAnswer(binary: answer.binary, contentByteCountMax: 1 << 20) }
    #expect(throws: MessageDefect.self) { try PullAnswer(binary: answer.binary, contentByteCountMax: 100) }
    // Well tagged, and a lie: two bytes that say they hold a gigabyte.
    let lie = Forgery.frame(kind: 2, form: 1, contentByteCount: 1 << 30, stored: [0, 0])
    #expect(throws: MessageDefect.self) { try PullAnswer(binary: lie, contentByteCountMax: 1 << 31) }
  }

  /// The tag keeps damage out, not an attacker: behind it nothing is trusted either.
  @Test(arguments: UInt64(1)...60)
  func `forged contents with good tags are messages or defects, never more`(seed: UInt64) {
    var maker = MessageMaker(seed: seed)
    let contents = [
      Forgery.content(maker.pullRequest().binary), Forgery.content(maker.pullAnswer().binary),
      Forgery.content(maker.pushRequest().binary), Forgery.content(maker.pushAnswer().binary),
    ]
    for (place, content) in contents.enumerated() {
      for _ in 0..<200 {
        let forged = maker.forge(content)
        let frame = Forgery.frame(kind: UInt8(place + 1), form: 0, contentByteCount: forged.count, stored: forged)
        read(frame, kind: place)
      }
    }
  }

  private func read(_ frame: [UInt8], kind: Int) {
    do throws(MessageDefect) {
      switch kind {
      case 0: try expectSame(again: PullRequest(binary: frame, contentByteCountMax: 1 << 20))
      case 1: try expectSame(again: PullAnswer(binary: frame, contentByteCountMax: 1 << 20))
      case 2: try expectSame(again: PushRequest(binary: frame, contentByteCountMax: 1 << 20))
      default: try expectSame(again: PushAnswer(binary: frame, contentByteCountMax: 1 << 20))
      }
    } catch {
      #expect(!error.reason.isEmpty)
    }
  }

  /// Whatever was read can be written and is read again as the same.
  private func expectSame<Message: BinaryMessage>(again message: Message) throws(MessageDefect) {
    let again = try Message(binary: message.binary, contentByteCountMax: 1 << 24)
    #expect(again == message)
  }

  @Test func `values inside one another are taken as deep as in JSON`() throws {
    for depth in 55...66 {
      let value = (0..<depth).reduce(Value.null) { inner, _ in .array([inner]) }
      let answer = PullAnswer(cursor: "1", rows: [.init(table: "t", pk: "p", row: ["c": value], seq: "1")])
      let isJSON = (try? PullAnswer(body: answer.body)) != nil
      let isBinary = (try? PullAnswer(binary: answer.binary, contentByteCountMax: 1 << 20)) != nil
      #expect(isJSON == isBinary, "\(depth)")
    }
  }

  @Test func `media types`() {
    #expect(BodyForm(contentType: "application/json; charset=utf-8") == .json)
    #expect(BodyForm(contentType: "Application/VND.strandline.v1") == .binary)
    #expect(BodyForm(contentType: "application/vnd.strandline.v2") == nil)
    #expect(BodyForm(contentType: "") == nil)
  }
}

/// Frames with good tags and any content.
private enum Forgery {
  static func content(_ frame: [UInt8]) -> [UInt8] {
    for kind in [BinaryKind.pullRequest, .pullAnswer, .pushRequest, .pushAnswer] {
      if let content = try? BinaryFrame.decode(frame, kind: kind, contentByteCountMax: 1 << 24) { return content }
    }
    return []
  }

  static func frame(kind: UInt8, form: UInt8, contentByteCount: Int, stored: [UInt8]) -> [UInt8] {
    var head: [UInt8] = [0x53, 0x4C, 0x4D, 0x42, 1, kind, form, 0]
    for number in [contentByteCount, stored.count] {
      withUnsafeBytes(of: UInt32(number).littleEndian) { head.append(contentsOf: $0) }
    }
    let tag = XXH3.tag(stored, seed: XXH3.tag(head, seed: 0))
    return head + withUnsafeBytes(of: tag.littleEndian) { Array($0) } + stored
  }
}
