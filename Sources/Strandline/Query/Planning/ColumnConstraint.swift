/// What the filters at the root say about one column: every row that is found fulfils it, others may too.
struct ColumnConstraint {
  /// Equals one of these, which are in order and without equals; nil: says nothing. Null is a value here.
  private(set) var points: [Value]?
  /// At or above.
  private(set) var lower: Value?
  private(set) var isLowerOpen = false
  /// At or below.
  private(set) var upper: Value?
  private(set) var isUpperOpen = false
  /// No row whose cell is null or absent is found.
  private(set) var excludesNull = false
  /// No row is found.
  private(set) var isContradiction = false

  var isRange: Bool { points == nil && (lower != nil || upper != nil) }
  var isFixed: Bool { points?.count == 1 }

  mutating func equals(oneOf values: [Value]) {
    if !values.contains(where: \.isNull) { excludesNull = true }
    points = points.map { old in old.filter { one in values.contains { Value.areEqualInOrder($0, one) } } } ?? values
    settle()
  }

  mutating func atLeast(_ value: Value, isOpen: Bool) {
    excludesNull = true
    if let old = lower {
      guard let order = Value.orderWithinKind(value, old) else { return contradict() }
      if order < 0 || (order == 0 && !isOpen) { return settle() }
    }
    lower = value
    isLowerOpen = isOpen
    settle()
  }

  mutating func atMost(_ value: Value, isOpen: Bool) {
    excludesNull = true
    if let old = upper {
      guard let order = Value.orderWithinKind(value, old) else { return contradict() }
      if order > 0 || (order == 0 && !isOpen) { return settle() }
    }
    upper = value
    isUpperOpen = isOpen
    settle()
  }

  mutating func isNotNull() {
    excludesNull = true
    settle()
  }

  private mutating func contradict() { isContradiction = true }

  private mutating func settle() {
    if let lower, let upper {
      guard let order = Value.orderWithinKind(lower, upper) else { return contradict() }
      if order > 0 || (order == 0 && (isLowerOpen || isUpperOpen)) { return contradict() }
    }
    guard let old = points else { return }
    let kept = old.filter { allows($0) }
    points = kept
    if kept.isEmpty { contradict() }
  }

  private func allows(_ value: Value) -> Bool {
    if value.isNull { return !excludesNull }
    if let lower {
      guard let order = Value.orderWithinKind(value, lower), isLowerOpen ? order > 0 : order >= 0 else { return false }
    }
    if let upper {
      guard let order = Value.orderWithinKind(value, upper), isUpperOpen ? order < 0 : order <= 0 else { return false }
    }
    return true
  }
}
