/// What a GAP frame carries: sequence numbers whose commits salvage could not keep.
public struct GapPayload: Hashable, Sendable {
  public var first: SequenceNumber
  public var last: SequenceNumber
  public var reason: Reason

  /// Numbers are never moved or reused.
  public enum Reason: UInt32, Hashable, Sendable {
    /// Bytes were there and did not verify.
    case damaged = 1
    /// The segment that held them was not there.
    case missing = 2
    /// The commit's last frames were not there.
    case incomplete = 3
  }

  static let byteCount = 24

  //  byte 0       8      16       20     24
  //       +-------+------+--------+------+
  //       | first | last | reason | zero |
  //       +-------+------+--------+------+
  func encoded() -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: Self.byteCount)
    payload.withUnsafeMutableBytes { bytes in
      bytes.put(first.rawValue, at: 0)
      bytes.put(last.rawValue, at: 8)
      bytes.put(reason.rawValue, at: 16)
    }
    return payload
  }

  init(first: SequenceNumber, last: SequenceNumber, reason: Reason) {
    self.first = first
    self.last = last
    self.reason = reason
  }

  init?(decoding payload: UnsafeRawBufferPointer) {
    guard payload.count == Self.byteCount, payload.u32(20) == 0, let reason = Reason(rawValue: payload.u32(16))
    else { return nil }
    self.init(first: SequenceNumber(payload.u64(0)), last: SequenceNumber(payload.u64(8)), reason: reason)
    guard SequenceNumber.zero < first, first <= last, last <= .max else { return nil }
  }
}
