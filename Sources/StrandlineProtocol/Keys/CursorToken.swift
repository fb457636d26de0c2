/// How far a pull has come, as the server reads and writes it; to everybody else a cursor is any text.
///
///     cursor = [ start ":" ] high [ "~" hole *( "." hole ) ]
///
/// Every number up to `high` has been delivered, except the holes. Numbers are decimal, at most 2^63 - 1, without a zero in front.
public struct CursorToken: Hashable, Sendable, LosslessStringConvertible {
  /// Only in a transfer that is not closed: the high of the token that it began from.
  public var start: Int64?
  public var high: Int64
  /// Rising, each below `high` and above zero. Our server sends none, for its numbers are drawn at commit.
  public var holes: [Int64]

  public init(start: Int64? = nil, high: Int64, holes: [Int64] = []) {
    self.start = start
    self.high = high
    self.holes = holes
  }

  /// Nil for any text but the one that ``description`` gives.
  public init?(_ text: String) {
    let halves = text.utf8.split(separator: UInt8(ascii: "~"), maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = halves[0].split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard numbers.count <= 2, let high = Self.number(numbers[numbers.count - 1]) else { return nil }
    self.high = high
    if numbers.count == 2 {
      guard let start = Self.number(numbers[0]) else { return nil }
      self.start = start
    }
    holes = []
    guard halves.count == 2 else { return }
    for part in halves[1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard let hole = Self.number(part), hole > holes.last ?? 0, hole < high else { return nil }
      holes.append(hole)
    }
  }

  public var description: String {
    var text = start.map { "\($0):" } ?? ""
    text += String(high)
    if !holes.isEmpty { text += "~" + holes.map { String($0) }.joined(separator: ".") }
    return text
  }

  /// Whether the number has still to be delivered.
  public func isUndelivered(_ number: Int64) -> Bool { number > high || holes.contains(number) }

  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard !digits.isEmpty, digits.count <= 19, digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      digits.count == 1 || digits.first != 0x30
    else { return nil }
    return Int64(String(Substring(digits)))
  }
}
