/// Where in a secondary index the entries of the rows lie that fulfil the constraints.
///
/// An entry may hold less than the value (a long text is cut), so both ends of every range belong to it and the row itself has the word.
struct SecondaryIndexPath {
  let index: IndexDefinition
  /// Ascending, apart from each other.
  private(set) var ranges: [ByteRange] = []
  /// Leading columns that are narrowed down by values.
  private(set) var pointColumnCount = 0
  /// One more, by a range.
  private(set) var hasRange = false

  private static let combinationCountMax = 4096

  init(_ index: IndexDefinition, _ constraints: Constraints, _ table: BoundTable) {
    self.index = index
    var prefixes: [[UInt8]] = [[UInt8(index.number >> 8), UInt8(truncatingIfNeeded: index.number)]]
    for (place, number) in index.columns.enumerated() {
      let constraint = constraints[table.reference(of: number)]
      if let values = constraint.points, place == 0 || prefixes.count * values.count <= Self.combinationCountMax {
        prefixes = prefixes.flatMap { prefix in Self.distinct(values.map { Self.appending($0, to: prefix) }) }
        pointColumnCount += 1
        continue
      }
      if constraint.isRange {
        hasRange = true
        ranges = prefixes.compactMap { Self.range(in: $0, constraint.lower, constraint.upper) }
        return
      }
      break
    }
    ranges = prefixes.map { ByteRange(beginningWith: $0) }
  }

  private static func appending(_ value: Value, to prefix: [UInt8]) -> [UInt8] {
    var bytes = prefix
    IndexEncoding.append(value, to: &bytes)
    return bytes
  }

  /// Values that are cut to the same bytes have one range.
  private static func distinct(_ prefixes: [[UInt8]]) -> [[UInt8]] {
    var kept: [[UInt8]] = []
    for prefix in prefixes where kept.last != prefix { kept.append(prefix) }
    return kept
  }

  private static func range(in prefix: [UInt8], _ lower: Value?, _ upper: Value?) -> ByteRange? {
    guard let kind = lower ?? upper else { return nil }
    let (first, last) = ranks(of: kind)
    let start = lower.map { appending($0, to: prefix) } ?? prefix + [first]
    let end = ByteRange.end(of: upper.map { appending($0, to: prefix) } ?? prefix + [last])
    let range = ByteRange(lower: start, upper: end)
    return range.isEmpty ? nil : range
  }

  /// The first and last of the bytes that entries of values of this kind begin with.
  private static func ranks(of value: Value) -> (UInt8, UInt8) {
    if case .bool = value { return (ValueRank.false.rawValue, ValueRank.true.rawValue) }
    let rank = ValueRank(of: value).rawValue
    return (rank, rank)
  }

  /// Every range as its entries of null and the others; the last column narrowed down must be the one in front of the nullable one.
  func splitAtNull(nullsFirst: Bool) -> [ByteRange] {
    ranges.flatMap { range in
      let null = ByteRange(beginningWith: range.lower + [ValueRank.null.rawValue])
      let others = ByteRange(lower: range.lower + [ValueRank.null.rawValue + 1], upper: range.upper)
      return nullsFirst ? [null, others] : [others, null]
    }
  }
}
