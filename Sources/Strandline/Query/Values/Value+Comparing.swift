extension Value {
  /// As ``order(_:_:)``; nil for values of different kinds, which have no order as far as filters go.
  @inline(__always)
  static func orderWithinKind(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.int(let one), .int(let other)): return one < other ? -1 : one == other ? 0 : 1
    case (.string(let one), .string(let other)): return UTF8Order.compare(one, other)
    case (.bool, .bool): return order(left, right)
    default: return ValueRank(of: left) == ValueRank(of: right) ? order(left, right) : nil
    }
  }

  /// Equal as filters see it: 2 and 2.0 are.
  static func areEqualInOrder(_ left: Value, _ right: Value) -> Bool { order(left, right) == 0 }

  /// For messages.
  var kindName: String { type.map { "a value of type \($0.rawValue)" } ?? "null" }
}
