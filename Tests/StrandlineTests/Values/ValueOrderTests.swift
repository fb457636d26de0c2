import StrandlineTestSupport
import Testing

@testable import Strandline

struct ValueOrderTests {
  static let ascending: [Value] = [
    .null, false, true,
    .double(-.infinity), .decimal("-" + String(repeating: "9", count: 400)), .double(-.greatestFiniteMagnitude),
    .int(.min), .int(-3),
    .decimal("-2.5"), .double(-2.25), .int(-1), .double(-.leastNonzeroMagnitude),
    .decimal("-0." + String(repeating: "0", count: 400) + "1"), .int(0),
    .decimal("0." + String(repeating: "0", count: 400) + "1"), .double(.leastNonzeroMagnitude), .decimal("0.1"),
    .double(0.1), .int(1),
    .double(9_007_199_254_740_992), .int(9_007_199_254_740_993), .double(9_007_199_254_740_994),
    .decimal("9223372036854775806.9"), .int(.max), .double(0x1p63), .decimal("9223372036854775808.5"), .double(1e300),
    .double(.greatestFiniteMagnitude), .decimal("1" + String(repeating: "0", count: 400)), .double(.infinity),
    .double(.nan),
    .timestamp(.min), .timestamp(0), .timestamp(1),
    .string(""), .string("\0"), .string("a"), .string("a\0"), .string("b"), .string("e\u{301}"), .string("é"),
    .string("\u{E000}"),
    .string("😀"),
    .bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([1]), .bytes([0xFF]),
    .uuid(UUIDBytes(high: 0, low: 1)), .uuid(UUIDBytes(high: 1, low: 0)),
    .array([]), .array([.null]), .array([.int(1)]), .array([.int(1), .null]), .array([.double(1.5)]), .array(["a"]),
    .object([:]), .object(["a": 1]), .object(["a": 1, "b": 0]), .object(["a": 2]), .object(["b": .null]),
  ]

  @Test func `values of all kinds stand in one order`() {
    for (index, left) in Self.ascending.enumerated() {
      for (other, right) in Self.ascending.enumerated() {
        #expect(Value.order(left, right).signum() == (index - other).signum(), "\(left) against \(right)")
      }
    }
  }

  @Test(arguments: [
    (Value.int(2), Value.double(2)), (.int(0), .double(-0.0)), (.decimal("2.50"), .double(2.5)),
    (.decimal("+07"), .int(7)),
    (.decimal("-0.00"), .int(0)), (.double(.nan), .double(-.nan)), (.array([.int(1)]), .array([.double(1)])),
    (.object(["a": 1]), .object(["a": 1.0])), (.decimal("9223372036854775808"), .double(0x1p63)),
  ])
  func `numbers of different types are equal by what they stand for`(left: Value, right: Value) {
    #expect(Value.order(left, right) == 0)
    #expect(Value.order(right, left) == 0)
  }

  @Test(arguments: [UInt64(1), 2])
  func `the order of random numbers is that of their digits`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<20_000 {
      let (left, right) = (random.number(), random.number())
      #expect(Value.order(left, right).signum() == dullOrder(left, right), "\(left) against \(right), seed \(seed)")
    }
  }

  @Test func `sameness is of kind and bytes, and hashes agree`() {
    var random = RandomValues(seed: 3)
    let values = (0..<300).map { _ in random.value() }
    for value in values { #expect(value == value && value.hashValue == value.hashValue) }
    #expect(Value.string("é") != .string("e\u{301}"))
    #expect(Value.int(1) != .double(1))
    #expect(Value.double(.nan) == .double(-.nan))
    #expect(Value.double(.nan).hashValue == Value.double(-.nan).hashValue)
    #expect(Value.double(0.0) == .double(-0.0))
    #expect(Value.double(0.0).hashValue == Value.double(-0.0).hashValue)
    #expect(Value.object(["a": 1]) == ["a": 1])
    #expect(Value.object(["a": 1]) != ["a": .null])
  }
}

/// Every number as its exact digits, compared place by place.
func dullOrder(_ left: Value, _ right: Value) -> Int {
  func rank(_ value: Value) -> Int {
    switch value {
    case .double(let number): number.isNaN ? 3 : number.isInfinite ? (number < 0 ? 0 : 2) : 1
    default: 1
    }
  }
  func digits(_ value: Value) -> DecimalDigits {
    switch value {
    case .int(let number): DecimalDigits(String(number))!
    case .decimal(let text): DecimalDigits(text)!
    case .double(let number): DecimalDigits(exactly: number)
    default: preconditionFailure("not a number")
    }
  }
  if (rank(left), rank(right)) != (1, 1) { return (rank(left) - rank(right)).signum() }
  // The places of both, padded to one length: sign, whole digits, fraction.
  let (one, other) = (digits(left), digits(right))
  let low = min(one.exponent - one.digits.count, other.exponent - other.digits.count)
  let high = max(one.exponent, other.exponent)
  func places(_ number: DecimalDigits) -> [Int] {
    (low..<max(high, low)).reversed().map { place in
      let index = number.exponent - 1 - place
      let digit = number.digits.indices.contains(index) ? Int(number.digits[index]) : 0
      return number.isNegative ? -digit : digit
    }
  }
  let (first, second) = (places(one), places(other))
  if first == second { return 0 }
  return first.lexicographicallyPrecedes(second) ? -1 : 1
}
