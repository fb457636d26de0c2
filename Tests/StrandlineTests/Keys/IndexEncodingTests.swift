import StrandlineTestSupport
import Testing

@testable import Strandline

struct IndexEncodingTests {
  static func encoded(_ value: Value) -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    let isWhole = IndexEncoding.append(value, to: &bytes)
    return (bytes, isWhole)
  }

  /// Order of the bytes is order of the values; equal bytes mean equal values unless cut.
  private func check(_ left: Value, _ right: Value, _ comment: Comment) {
    let (one, other) = (Self.encoded(left), Self.encoded(right))
    let order = Value.order(left, right).signum()
    let found = compare(one.bytes, other.bytes)
    if found == 0 {
      #expect(order == 0 || !(one.isWhole || other.isWhole), "\(left) against \(right), \(comment)")
    } else {
      #expect(found == order, "\(left) against \(right), \(comment)")
      // None begins another, so that what follows does not matter.
      #expect(!one.bytes.starts(with: other.bytes), "\(left) against \(right), \(comment)")
    }
  }

  @Test func `values of all kinds are in the order of values`() {
    for left in ValueOrderTests.ascending { for right in ValueOrderTests.ascending { check(left, right, "table") } }
  }

  @Test(arguments: Array(UInt64(1)...4))
  func `random numbers of all types are in their order`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<20_000 { check(random.number(), random.number(), "seed \(seed)") }
  }

  @Test(arguments: Array(UInt64(1)...6))
  func `random values are in their order, cut or not`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<300 {
      let values = (0..<12).map { _ in random.value() }
      for left in values { for right in values { check(left, right, "seed \(seed)") } }
    }
  }

  @Test(arguments: Array(UInt64(1)...4))
  func `long values with a common beginning are in their order`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<3000 {
      let byte = random.pick([0, 0x61, 0xFF] as [UInt8])
      func bytes() -> [UInt8] {
        Array(repeating: byte, count: 20 + random.int(500)) + random.generator.bytes(random.int(3))
      }
      check(.bytes(bytes()), .bytes(bytes()), "seed \(seed)")
    }
  }

  @Test func `text that equals in form but not in bytes differs`() { check("é", "e\u{301}", "text") }

  @Test func `what keeps order is never cut`() {
    var random = RandomValues(seed: 5)
    for _ in 0..<5000 {
      let value = random.value(depth: 0)
      let (bytes, isWhole) = Self.encoded(value)
      #expect(bytes.count <= IndexEncoding.valueByteCountMax)
      if let type = value.type, IndexEncoding.keepsOrder(type) { #expect(isWhole, "\(value)") }
    }
  }

  @Test func `nesting of any depth ends at the cut`() {
    let deep = (0..<10_000).reduce(Value.array([])) { value, _ in .array([value]) }
    #expect(!Self.encoded(deep).isWhole)
  }

  @Test(arguments: Array(UInt64(1)...4))
  func `entries are in the order of values and then of keys, and give their keys back`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    var key: [UInt8] = []
    for _ in 0..<200 {
      let isFixedWidth = random.int(2) == 0
      let columnCount = 1 + random.int(3)
      let entries = (0..<10).map { _ -> (values: [Value], key: [UInt8]) in
        // Few values, so that many are equal.
        let values = (0..<columnCount).map { _ in
          random.int(2) == 0 ? .int(Int64(random.int(2))) : random.value(depth: 0)
        }
        return (values, isFixedWidth ? random.generator.bytes(16) : Array(random.bytes().prefix(300)))
      }
      for left in entries {
        let one = try Self.entry(left.values, left.key, isFixedWidth)
        try one.withUnsafeBytes { try IndexEncoding.readPrimaryKey(of: $0, into: &key) }
        #expect(key == left.key, "seed \(seed)")
        one.withUnsafeBytes { one in
          #expect(IndexEncoding.primaryKey(of: one).map { Array($0) } == (isFixedWidth ? key : nil), "seed \(seed)")
        }
        for right in entries {
          let other = try Self.entry(right.values, right.key, isFixedWidth)
          let order = Value.order(.array(left.values), .array(right.values)).signum()
          let isCut = (left.values + right.values).contains { !Self.encoded($0).isWhole }
          if isCut { continue }
          #expect(
            compare(one, other) == (order != 0 ? order : compare(left.key, right.key)),
            "\(left), \(right), seed \(seed)")
        }
      }
    }
  }

  static func entry(_ values: [Value], _ key: [UInt8], _ isFixedWidth: Bool) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try key.span.bytes.withUnsafeBytes { (key) throws(StoreError) in
      try IndexEncoding.appendEntry(index: 7, values: values, primaryKey: key, isFixedWidth: isFixedWidth, to: &bytes)
    }
    return bytes
  }

  @Test(arguments: Array(UInt64(1)...4))
  func `a range holds what lies in it, and but for cut values nothing else`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<300 {
      let values = (0..<15).map { _ in random.int(2) == 0 ? random.number() : random.value() }
      let equal: [Value] = random.int(2) == 0 ? [] : [random.value(depth: 0)]
      let (low, high) = (random.pick(values), random.pick(values))
      let lower = random.pick([.unbounded, .including(low), .excluding(low)] as [IndexEncoding.Bound])
      let upper = random.pick([.unbounded, .including(high), .excluding(high)] as [IndexEncoding.Bound])
      let range = IndexEncoding.range(index: 7, equal: equal, from: lower, to: upper)
      for value in values {
        let entry = try Self.entry(equal + [value], random.generator.bytes(16), true)
        let isFound = compare(entry, range.lower) >= 0 && range.upper.map { compare(entry, $0) < 0 } ?? true
        let isIn = isAbove(value, lower) && isBelow(value, upper)
        let isCut = [value, low, high].contains { !Self.encoded($0).isWhole }
        #expect(isIn ? isFound : !isFound || isCut, "\(value) from \(lower) to \(upper), seed \(seed)")
      }
      let other = IndexEncoding.range(index: 8, equal: [])
      let entry = try Self.entry([values[0]], [1], false)
      #expect(compare(entry, other.lower) < 0)
    }
  }

  private func isAbove(_ value: Value, _ bound: IndexEncoding.Bound) -> Bool {
    switch bound {
    case .unbounded: true
    case .including(let other): Value.order(value, other) >= 0
    case .excluding(let other): Value.order(value, other) > 0
    }
  }

  private func isBelow(_ value: Value, _ bound: IndexEncoding.Bound) -> Bool {
    switch bound {
    case .unbounded: true
    case .including(let other): Value.order(value, other) <= 0
    case .excluding(let other): Value.order(value, other) < 0
    }
  }

  @Test func `an entry has at most 1,024 bytes`() throws {
    let text = Value.string(String(repeating: "x", count: 300))
    #expect(try Self.entry([text, text, text], Array(repeating: 1, count: 252), true).count == 1024)
    let error = #expect(throws: StoreError.self) {
      try Self.entry([text, text, text], Array(repeating: 1, count: 253), true)
    }
    guard case .limitExceeded(let limit) = error, limit.name == "keyByteCount" else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: Array(UInt64(1)...3))
  func `random bytes give a key or are refused`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    var key: [UInt8] = []
    for _ in 0..<20_000 {
      var bytes = random.generator.bytes(random.int(20)).map { random.int(3) == 0 ? UInt8(random.int(2)) &* 255 : $0 }
      if bytes.count > 2 {
        bytes[bytes.count - 2] = random.pick([0, 0x80])
        bytes[bytes.count - 1] = UInt8(random.int(20))
      }
      do throws(StoreError) {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(StoreError) in
          try IndexEncoding.readPrimaryKey(of: bytes, into: &key)
        }
      } catch {
        guard case .undecodable(what: "index entry", _) = error else {
          Issue.record("\(error)")
          return
        }
      }
    }
  }
}
