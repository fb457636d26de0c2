import StrandlineTestSupport

@testable import Strandline

/// Random values of every kind, with the awkward ones far more often than chance would bring them.
struct RandomValues {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func pick<Element>(_ choices: [Element]) -> Element { choices[int(choices.count)] }
  mutating func int(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func value(depth: Int = 3) -> Value {
    switch int(depth > 0 ? 13 : 10) {
    case 0: .null
    case 1: .bool(int(2) == 0)
    case 2, 3: number()
    case 4: .decimal(decimal())
    case 5: .double(double())
    case 6: .string(text())
    case 7: .bytes(bytes())
    case 8: .uuid(uuid())
    case 9: .timestamp(integer())
    case 10, 11: .array((0..<int(4)).map { _ in value(depth: depth - 1) })
    default: .object(Dictionary((0..<int(4)).map { _ in (text(), value(depth: depth - 1)) }, uniquingKeysWith: { $1 }))
    }
  }

  mutating func number() -> Value {
    switch int(4) {
    case 0: .int(integer())
    case 1: .decimal(decimal())
    case 2: .double(double())
    // Neighbours: one number in another type, or just beside it.
    default:
      {
        let base = pick([0, 1, -1, 1 << 53, -(1 << 53), 1 << 62, .max, .min, 255, 256, 1000] as [Int64])
        let near = base &+ Int64(int(5) - 2)
        switch int(4) {
        case 0: return .int(near)
        case 1: return .double(Double(near))
        case 2:
          return .decimal(String(near) + pick(["", ".0", ".5", ".000000000000000000001", ".99999999999999999999"]))
        default: return .double(Double(near).nextUp)
        }
      }()
    }
  }

  mutating func integer() -> Int64 {
    switch int(4) {
    case 0: Int64(int(7) - 3)
    case 1: pick([.min, .max, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 1 << 53, 1 << 31])
    case 2: Int64(truncatingIfNeeded: generator.next() >> UInt64(int(64)))
    default: Int64(truncatingIfNeeded: generator.next()) >> Int64(int(64))
    }
  }

  mutating func double() -> Double {
    switch int(5) {
    case 0:
      pick([
        0, -0.0, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude, .leastNormalMagnitude, 0.1, -0.1, 1e15, 1e16, 1e22, 1e23,
      ])
    case 1: Double(integer())
    case 2: Double(integer()) / 100
    case 3: Double(bitPattern: generator.next())
    default: Double(int(2000) - 1000) / 8
    }
  }

  mutating func decimal() -> String {
    let sign = pick(["", "", "-", "+"])
    switch int(6) {
    case 0: return sign + pick(["0", "0.0", "00", "1", "1.0", "01.50", "0.1", "0.10", "19.99", "0.5"])
    case 1: return sign + digits(1 + int(3)) + "." + digits(1 + int(3))
    case 2: return sign + digits(1 + int(40)) + "." + digits(1 + int(40))
    case 3: return sign + digits(300 + int(40))
    case 4: return sign + "0." + String(repeating: "0", count: 300 + int(60)) + digits(1 + int(20))
    default:
      // The exact digits of a double, or one digit more.
      let exact = DecimalDigits(exactly: Double(integer()) / 64)
      let whole = exact.digits.map { String($0) }.joined()
      let text =
        exact.exponent <= 0
        ? "0." + String(repeating: "0", count: -exact.exponent) + whole + "0" : whole + "." + digits(1)
      return sign + (DecimalDigits(text) == nil ? "0" : text)
    }
  }

  private mutating func digits(_ count: Int) -> String { String((0..<count).map { _ in pick(Array("0123456789")) }) }

  mutating func text() -> String {
    switch int(6) {
    case 0: pick(["", "\0", "a", "a\0", "a\0b", "ab", "é", "e\u{301}", "\u{FFFF}", "😀", "\u{E000}", "\"\\\n"])
    case 1: String(repeating: pick(["x", "\0", "ü", "😀"]), count: int(400))
    default: String((0..<int(20)).map { _ in pick(Array("ab cdeé😀\0\u{1}z")) })
    }
  }

  mutating func bytes() -> [UInt8] {
    int(3) == 0
      ? pick([[], [0], [0, 0], [0, 0xFF], [0xFF], [1], [0, 1]]) : generator.bytes(int(3) == 0 ? int(600) : int(10))
  }

  mutating func uuid() -> UUIDBytes {
    int(4) == 0 ? UUIDBytes(high: 0, low: UInt64(int(3))) : UUIDBytes(high: generator.next(), low: generator.next())
  }

  /// Cells in the order of their columns.
  mutating func cells() -> [(column: UInt16, value: Value)] {
    let span = pick([8, 40, 4096])
    let columns = Set((0..<int(pick([4, 8, 40]))).map { _ in UInt16(int(span)) })
    return columns.sorted().map { ($0, value()) }
  }
}
