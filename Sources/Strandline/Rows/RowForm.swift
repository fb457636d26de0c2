/// The form byte of a row: how wide its column numbers and ends are.
struct RowForm: Equatable {
  let rawValue: UInt8

  /// The smallest that does.
  @inline(__always)
  init(lastColumn: UInt16, bodyByteCount: Int) {
    let ends: UInt8 = bodyByteCount <= 0xFF ? 0 : bodyByteCount <= 0xFFFF ? 1 : 2
    rawValue = (lastColumn <= 0xFF ? 0 : 1) | ends << 1
  }

  /// Nil for a byte that no row has.
  @inline(__always)
  init?(stored byte: UInt8) {
    guard byte < 6 else { return nil }
    rawValue = byte
  }

  /// Column numbers take `1 << numberShift` bytes each.
  @inline(__always)
  var numberShift: Int { Int(rawValue & 1) }
  /// Ends take `1 << endShift` bytes each.
  @inline(__always)
  var endShift: Int { Int(rawValue >> 1) }
  /// Of number, type and end together.
  @inline(__always)
  var byteCountPerColumn: Int { 1 << numberShift + 1 + 1 << endShift }
}
