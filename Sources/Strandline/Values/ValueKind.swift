/// The type byte of a stored value. Numbers are part of the format and are never used again for something else.
enum ValueKind: UInt8 {
  case null = 0
  case `false` = 1
  case `true` = 2
  case int = 3
  case decimal = 4
  case double = 5
  case string = 6
  case bytes = 7
  case uuid = 8
  case timestamp = 9
  case array = 10
  case object = 11

  @inline(__always)
  init(of value: borrowing Value) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): flag ? .true : .false
      case .int: .int
      case .decimal: .decimal
      case .double: .double
      case .string: .string
      case .bytes: .bytes
      case .uuid: .uuid
      case .timestamp: .timestamp
      case .array: .array
      case .object: .object
      }
  }

  /// How many bytes a body of the kind has in a row; for a byte that is no kind, none that any body has.
  @inline(__always)
  static func byteCounts(ofRaw kind: UInt8) -> (least: Int, most: Int) {
    // Five bits a kind; all ones: any number.
    let leastByKind: UInt64 = 8 << (5 * 5) | 16 << (5 * 8) | 1 << (5 * 10) | 1 << (5 * 11)
    let mostByKind: UInt64 =
      8 << (5 * 3) | 31 << (5 * 4) | 8 << (5 * 5) | 31 << (5 * 6) | 31 << (5 * 7) | 16 << (5 * 8) | 8 << (5 * 9) | 31
      << (5 * 10)
      | 31 << (5 * 11)
    let shift = UInt64(5 &* (kind & 15))
    let most = Int(truncatingIfNeeded: mostByKind >> shift & 31)
    guard kind <= 11 else { return (0, -1) }
    return (Int(truncatingIfNeeded: leastByKind >> shift & 31), most == 31 ? .max : most)
  }
}
