extension Value {
  /// The one order of all values: null, false, true, numbers by what they stand for, timestamps, texts by their UTF-8 bytes, bytes,
  /// UUIDs, arrays member by member, objects name by name in the order of the names.
  ///
  /// - Returns: Below, at or above zero as `left` comes before, equals, or comes behind `right`.
  public static func order(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.int(let one), .int(let other)), (.timestamp(let one), .timestamp(let other)):
      return one < other ? -1 : one == other ? 0 : 1
    case (.string(let one), .string(let other)): return UTF8Order.compare(one, other)
    case (.bytes(let one), .bytes(let other)):
      return one.withUnsafeBytes { one in other.withUnsafeBytes { KeyView.compare(one, $0) } }
    case (.uuid(let one), .uuid(let other)): return one < other ? -1 : one == other ? 0 : 1
    case (.array(let one), .array(let other)): return order(one, other)
    case (.object(let one), .object(let other)): return order(one, other)
    default:
      let ranks = (ValueRank(of: left), ValueRank(of: right))
      if ranks == (.number, .number) { return NumberOrder.compare(left, right) }
      return Int(ranks.0.rawValue) - Int(ranks.1.rawValue)
    }
  }

  private static func order(_ left: [Value], _ right: [Value]) -> Int {
    for index in 0..<min(left.count, right.count) {
      let result = order(left[index], right[index])
      if result != 0 { return result }
    }
    return left.count - right.count
  }

  private static func order(_ left: [String: Value], _ right: [String: Value]) -> Int {
    let names = (orderedNames(left), orderedNames(right))
    for index in 0..<min(left.count, right.count) {
      let (one, other) = (names.0[index], names.1[index])
      var result = UTF8Order.compare(one, other)
      if result == 0 { result = order(left[one] ?? .null, right[other] ?? .null) }
      if result != 0 { return result }
    }
    return left.count - right.count
  }

  static func orderedNames(_ members: [String: Value]) -> [String] {
    members.keys.sorted { UTF8Order.compare($0, $1) < 0 }
  }
}

/// Where the kinds stand in the order of values. Numbers are part of the format (index entries begin with them); zero ends a list.
enum ValueRank: UInt8 {
  case null = 0x01
  case `false` = 0x02
  case `true` = 0x03
  case number = 0x10
  case timestamp = 0x18
  case string = 0x20
  case bytes = 0x28
  case uuid = 0x30
  case array = 0x38
  case object = 0x40

  init(of value: Value) {
    self =
      switch value {
      case .null: .null
      case .bool(let flag): flag ? .true : .false
      case .int, .decimal, .double: .number
      case .timestamp: .timestamp
      case .string: .string
      case .bytes: .bytes
      case .uuid: .uuid
      case .array: .array
      case .object: .object
      }
  }
}
