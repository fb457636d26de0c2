import StrandlineProtocol
import StrandlineTestSupport

/// Messages of every shape, made of a seed.
struct MessageMaker {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static func todos(_ count: Int) -> PullAnswer {
    PullAnswer(
      cursor: "\(count)",
      rows: (0..<count).map {
        .init(
          table: "todos", pk: "\($0)", row: ["id": .string("\($0)"), "done": false, "n": .int(Int64($0))], seq: "\($0)")
      })
  }

  mutating func pullRequest() -> PullRequest {
    PullRequest(
      clientID: maybe { $0.text() }, schemaVersion: maybe { $0.number() }, cursor: text(),
      limit: maybe { $0.number() },
      buckets: several { PullRequest.Bucket(table: $0.name(), params: $0.members()) })
  }

  mutating func pullAnswer() -> PullAnswer {
    PullAnswer(
      cursor: text(), hasMore: flag(),
      rows: several {
        PullAnswer.RowEntry(table: $0.name(), pk: $0.text(), row: $0.members(), seq: $0.seq(), isDeleted: $0.flag())
      },
      tombstones: several {
        PullAnswer.Tombstone(table: $0.name(), pk: $0.text(), seq: $0.seq(), deletedAt: $0.maybe { $0.text() })
      }, signal: maybe { $0.text() },
      conflicts: several {
        PullAnswer.Conflict(
          table: $0.name(), pk: $0.text(), column: $0.name(), loserValue: $0.value(), winnerMutationID: $0.text(),
          conflictMode: $0.name(), winnerSeq: $0.maybe { $0.seq() })
      })
  }

  mutating func pushRequest() -> PushRequest {
    PushRequest(
      clientID: maybe { $0.text() }, schemaVersion: maybe { $0.number() }, lastMutationID: maybe { $0.text() },
      isAtomic: flag(),
      mutations: several {
        Mutation(
          id: $0.text(), table: $0.name(), pk: $0.text(), operation: $0.name(), columns: $0.members(),
          precondition: $0.maybe { $0.members() }, hlc: $0.maybe { $0.text() }, transforms: $0.maybe { $0.members() })
      })
  }

  mutating func pushAnswer() -> PushAnswer {
    var answer = PushAnswer(
      verdicts: several {
        PushAnswer.Verdict(
          mutationID: $0.text(), kind: $0.name(), reason: $0.maybe { $0.name() }, serverRow: $0.maybe { $0.members() })
      })
    if flag() { answer.verdicts = nil }
    if flag() {
      answer.abort = PushAnswer.Abort(
        outcome: name(), offenderMutationID: text(), reason: name(), serverRow: maybe { $0.members() })
    }
    if flag() { answer.signal = text() }
    return answer
  }

  /// A content with a few bytes changed, cut or put in.
  mutating func forge(_ content: [UInt8]) -> [UInt8] {
    var forged = content
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let place = Int.random(in: 0...forged.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where place < forged.count: forged[place] = UInt8.random(in: 0...255, using: &random)
      case 1: forged.removeSubrange(place..<min(forged.count, place + 3))
      case 2: forged.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF, 0x7F], at: place)
      default: forged.insert(UInt8.random(in: 0...255, using: &random), at: place)
      }
    }
    return forged
  }

  private mutating func flag() -> Bool { Bool.random(using: &random) }
  private mutating func number() -> Int64 {
    Int64.random(in: Int64.min...Int64.max, using: &random) >> Int64.random(in: 0...63, using: &random)
  }
  private mutating func name() -> String {
    ["todos", "título", "x", "", "created_at"].randomElement(using: &random) ?? ""
  }
  private mutating func seq() -> String {
    ["0", "17", "9223372036854775807", "9223372036854775808", "007", "-1", "", "x"].randomElement(using: &random) ?? ""
  }
  private mutating func text() -> String {
    ["", "a", "𝄞 \u{0} \"quoted\"\n", "e\u{301}", String(repeating: "long ", count: 40)].randomElement(using: &random)
      ?? ""
  }

  private mutating func maybe<Wrapped>(_ make: (inout MessageMaker) -> Wrapped) -> Wrapped? {
    flag() ? make(&self) : nil
  }

  private mutating func several<Element>(_ make: (inout MessageMaker) -> Element) -> [Element] {
    (0..<Int.random(in: 0...6, using: &random)).map { _ in make(&self) }
  }

  private mutating func members(depth: Int = 0) -> [String: Value] {
    var members: [String: Value] = [:]
    for _ in 0..<Int.random(in: 0...5, using: &random) { members[name()] = value(depth: depth) }
    return members
  }

  private mutating func value(depth: Int = 0) -> Value {
    switch Int.random(in: 0...(depth < 3 ? 15 : 13), using: &random) {
    case 0: .null
    case 1: .bool(flag())
    case 2, 3: .int(number())
    case 4: .double(Double(number()) / 8)
    case 5: .double([Double.nan, .infinity, -0.0, 1e300, .leastNonzeroMagnitude].randomElement(using: &random) ?? 0)
    case 6:
      .decimal(
        ["123456789012345678901234567890", "-1", "1.50", "007", "+3", "-0"].randomElement(using: &random) ?? "0")
    case 7: .bytes([0, 1, 255])
    case 8: .uuid(UUIDBytes(high: 1, low: .max))
    case 9: .timestamp(number() % 253_402_300_800_000)
    case 10...13: .string(text())
    case 14: .array(several { $0.value(depth: depth + 1) })
    default: .object(members(depth: depth + 1))
    }
  }
}
