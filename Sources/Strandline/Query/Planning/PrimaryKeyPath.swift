/// Where in the primary key the rows lie that fulfil the constraints.
struct PrimaryKeyPath {
  /// Whole keys, ascending; nil: `ranges` say where.
  private(set) var keys: [[UInt8]]?
  /// Ascending, apart from each other.
  private(set) var ranges: [ByteRange] = []
  /// Leading columns of the key that the path narrows down by values.
  private(set) var pointColumnCount = 0
  /// One more, by a range.
  private(set) var hasRange = false

  /// Combinations of values that are looked up one by one; beyond that the remaining columns are left to the filter.
  private static let combinationCountMax = 4096

  var isScan: Bool { keys == nil && pointColumnCount == 0 && !hasRange }
  var isEmpty: Bool { keys.map(\.isEmpty) ?? ranges.isEmpty }

  init(_ constraints: Constraints, _ key: [KeyColumn]) {
    var prefixes: [[UInt8]] = [[]]
    for (place, column) in key.enumerated() {
      let isLast = place == key.count - 1
      switch KeyBound(constraints[.key(place)], column.type) {
      case .nothing:
        return
      case .points(let values)
      where place == 0 || values.count == 1 || prefixes.count * values.count <= Self.combinationCountMax:
        prefixes = prefixes.flatMap { prefix in
          values.map { Self.appending($0, isLast: isLast, to: prefix) }
        }
        pointColumnCount += 1
        if isLast {
          keys = prefixes
          return
        }
      case .range(let lower, let upper):
        hasRange = true
        ranges = prefixes.compactMap { Self.range(in: $0, lower, upper, isLast: isLast) }
        return
      case .free, .points:
        ranges = prefixes.map { ByteRange(beginningWith: $0) }
        return
      }
    }
    ranges = prefixes.map { ByteRange(beginningWith: $0) }
  }

  private static func appending(_ value: Value, isLast: Bool, to prefix: [UInt8]) -> [UInt8] {
    var bytes = prefix
    KeyEncoding.append(value, isLast: isLast, to: &bytes)
    return bytes
  }

  private static func range(
    in prefix: [UInt8], _ lower: KeyBound.End?, _ upper: KeyBound.End?, isLast: Bool
  ) -> ByteRange? {
    // A text that ends the key is not marked off from longer ones: only its own key lies in front of it with a zero behind.
    func behind(_ value: Value) -> [UInt8]? {
      let bytes = appending(value, isLast: isLast, to: prefix)
      return isLast ? bytes + [0] : ByteRange.end(of: bytes)
    }
    var range = ByteRange(beginningWith: prefix)
    if let lower {
      guard let first = lower.isOpen ? behind(lower.value) : appending(lower.value, isLast: isLast, to: prefix) else {
        return nil
      }
      range.lower = first
    }
    if let upper {
      if upper.isOpen {
        range.upper = appending(upper.value, isLast: isLast, to: prefix)
      } else if let end = behind(upper.value) {
        range.upper = end
      }
    }
    return range.isEmpty ? nil : range
  }
}
