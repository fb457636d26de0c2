import StrandlineTestSupport
import Testing

@testable import Strandline

struct KeyEncodingTests {
  static func encoded(_ values: [Value], _ types: [KeyType]) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try KeyEncoding.encode(values, as: columns(types), table: "t", into: &bytes)
    return bytes
  }

  static func columns(_ types: [KeyType]) -> [KeyColumn] { types.enumerated().map { KeyColumn("c\($0)", $1) } }

  static func decoded(_ bytes: [UInt8], _ types: [KeyType]) -> [Value]? {
    bytes.withUnsafeBytes { KeyEncoding.decode($0, as: columns(types)) }
  }

  @Test func `the bytes are these`() throws {
    #expect(
      try Self.encoded([.uuid(UUIDBytes(high: 1, low: 2))], [.uuid]) == [
        0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
      ])
    #expect(try Self.encoded([1], [.int]) == [0x80, 0, 0, 0, 0, 0, 0, 1])
    #expect(try Self.encoded([.timestamp(-1)], [.timestamp]) == [0x7F, 255, 255, 255, 255, 255, 255, 255])
    #expect(try Self.encoded(["a\0b"], [.string]) == [0x61, 0, 0x62])
    #expect(try Self.encoded([""], [.string]) == [])
    #expect(try Self.encoded(["a\0b", .bytes([0, 1])], [.string, .bytes]) == [0x61, 0, 0xFF, 0x62, 0, 0, 0, 1])
  }

  @Test(arguments: Array(UInt64(1)...10))
  func `bytes are in the order of the values, and values come back`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<200 {
      let types = (0...random.int(4)).map { _ in random.pick(KeyType.allCases) }
      let keys = (0..<12).map { _ in types.map { random.key($0) } }.filter { (try? Self.encoded($0, types)) != nil }
      for left in keys {
        let bytes = try Self.encoded(left, types)
        #expect(Self.decoded(bytes, types) == left, "seed \(seed)")
        for right in keys {
          let order = Value.order(.array(left), .array(right)).signum()
          #expect(try compare(bytes, Self.encoded(right, types)) == order, "\(left) against \(right), seed \(seed)")
        }
      }
    }
  }

  @Test(arguments: Array(UInt64(1)...5))
  func `a prefix begins the keys that have its values, and no others`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<200 {
      let types = (0...1 + random.int(3)).map { _ in random.pick(KeyType.allCases) }
      let count = 1 + random.int(types.count - 1)
      let keys = (0..<10).map { _ in types.map { random.key($0) } }.filter { (try? Self.encoded($0, types)) != nil }
      for first in keys {
        var prefix: [UInt8] = []
        try KeyEncoding.encodePrefix(Array(first.prefix(count)), as: Self.columns(types), table: "t", into: &prefix)
        for other in keys {
          #expect(
            try Self.encoded(other, types).starts(with: prefix) == (first.prefix(count) == other.prefix(count)),
            "seed \(seed)")
        }
      }
    }
  }

  @Test(
    arguments: [
      ([1], [KeyType.uuid]), ([.null], [.int]), (["x"], [.int]), ([1.0], [.int]), ([1], [.timestamp]),
      ([.timestamp(1)], [.int]),
      (["x"], [.bytes]), ([], [.int]), ([1, 2], [.int]), ([1], [.int, .int]),
    ] as [([Value], [KeyType])])
  func `a value that is missing or of another type is refused`(values: [Value], types: [KeyType]) throws {
    let error = #expect(throws: StoreError.self) { try Self.encoded(values, types) }
    guard case .invalidKey(table: "t", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a key has at most 1,024 bytes`() throws {
    #expect(try Self.encoded([.string(String(repeating: "x", count: 1024))], [.string]).count == 1024)
    for (values, types) in [
      ([.string(String(repeating: "x", count: 1025))], [KeyType.string]),
      ([.bytes(Array(repeating: 0, count: 512)), 1], [.bytes, .int]),
    ] as [([Value], [KeyType])] {
      let error = #expect(throws: StoreError.self) { try Self.encoded(values, types) }
      guard case .limitExceeded(let limit) = error, limit.name == "keyByteCount", limit.maximum == 1024 else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test(arguments: Array(UInt64(1)...3))
  func `random bytes are one key's one encoding or none`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<20_000 {
      let types = (0...random.int(3)).map { _ in random.pick(KeyType.allCases) }
      let bytes = random.generator.bytes(random.int(30)).map { random.int(3) == 0 ? UInt8(random.int(2)) &* 255 : $0 }
      if let values = Self.decoded(bytes, types) { #expect(try Self.encoded(values, types) == bytes, "seed \(seed)") }
    }
  }

  @Test func `keys have a text for messages`() throws {
    func text(_ values: [Value], _ types: [KeyType]) throws -> String {
      try Self.encoded(values, types).withUnsafeBytes { KeyEncoding.text(of: $0, as: Self.columns(types)) }
    }
    #expect(try text([7], [.int]) == "7")
    #expect(try text(["a\"b"], [.string]) == "a\"b")
    #expect(try text([.uuid(UUIDBytes(high: 1, low: 2))], [.uuid]) == "00000000-0000-0001-0000-000000000002")
    #expect(try text(["a", 7], [.string, .int]) == #"["a", 7]"#)
    #expect([UInt8(1), 0xAB].withUnsafeBytes { KeyEncoding.text(of: $0, as: Self.columns([.int])) } == "0x01ab")
  }
}

/// Byte by byte, a shorter one first.
func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
  left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
}

extension RandomValues {
  mutating func key(_ type: KeyType) -> Value {
    switch type {
    case .int: .int(integer())
    case .timestamp: .timestamp(integer())
    case .uuid: .uuid(uuid())
    case .string: .string(text())
    case .bytes: .bytes(bytes())
    }
  }
}
