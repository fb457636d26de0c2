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
}
