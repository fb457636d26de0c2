/// What a constraint means for one column of a primary key, in the key's own type.
enum KeyBound {
  case free
  /// In order.
  case points([Value])
  /// Nil: no end.
  case range(lower: End?, upper: End?)
  case nothing

  struct End {
    var value: Value
    /// The value itself lies outside.
    var isOpen = false
  }

  init(_ constraint: ColumnConstraint, _ type: KeyType) {
    let columnType = type.columnType
    if constraint.isContradiction {
      self = .nothing
    } else if let points = constraint.points {
      let values = points.compactMap { $0.isNull ? nil : Self.exactly($0, columnType) }
      self = values.isEmpty ? .nothing : .points(values)
    } else if constraint.isRange {
      switch type {
      case .int: self = Self.integers(constraint)
      case .string, .uuid, .bytes, .timestamp:
        for bound in [constraint.lower, constraint.upper] {
          if let bound, bound.type != columnType {
            self = .nothing
            return
          }
        }
        self = .range(
          lower: constraint.lower.map { End(value: $0, isOpen: constraint.isLowerOpen) },
          upper: constraint.upper.map { End(value: $0, isOpen: constraint.isUpperOpen) })
      }
    } else {
      self = .free
    }
  }

  /// A value of the key's type that equals this one; nil if no key does.
  private static func exactly(_ value: Value, _ type: ColumnType) -> Value? {
    if value.type == type { return value }
    guard let converted = value.converted(to: type), Value.orderWithinKind(value, converted) == 0 else { return nil }
    return converted
  }

  private static func integers(_ constraint: ColumnConstraint) -> KeyBound {
    var lower: Int64?
    var upper: Int64?
    if let bound = constraint.lower {
      guard ValueRank(of: bound) == .number, Value.order(bound, .int(.max)) <= 0 else { return .nothing }
      lower = floor(bound)
    }
    if let bound = constraint.upper {
      guard ValueRank(of: bound) == .number, Value.order(bound, .int(.min)) >= 0 else { return .nothing }
      upper = floor(bound)
    }
    if lower == nil, upper == nil { return .free }
    return .range(
      lower: lower.map { number in
        End(
          value: .int(number),
          isOpen: constraint.isLowerOpen && constraint.lower.map { Value.order($0, .int(number)) == 0 } ?? false)
      },
      upper: upper.map { number in
        End(
          value: .int(number),
          isOpen: constraint.isUpperOpen && constraint.upper.map { Value.order($0, .int(number)) == 0 } ?? false)
      })
  }

  /// The largest integer that is not above; nil where there is none or none that is known for sure. Every integer at or above the bound
  /// is at or above this, every integer at or below the bound at or below this.
  private static func floor(_ bound: Value) -> Int64? {
    if case .int(let number)? = bound.converted(to: .int) { return number }
    let near: Double
    switch bound {
    case .double(let number): near = number
    case .decimal(let text): near = NumberOrder.nearestDouble(text)
    default: return nil
    }
    guard near.isFinite, abs(near) < 0x1p52 else { return nil }
    // The nearest double of a decimal may lie on the other side of an integer.
    var whole = Int64(near.rounded(.down))
    if Value.order(.int(whole), bound) > 0 { whole -= 1 }
    return Value.order(.int(whole + 1), bound) <= 0 ? whole + 1 : whole
  }
}
