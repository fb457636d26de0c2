/// What the filters at the root say, column by column.
struct Constraints {
  private(set) var columns: [ColumnReference: ColumnConstraint] = [:]
  private(set) var isContradiction = false

  init(_ filter: BoundFilter, _ table: BoundTable) {
    take(filter, table)
    if columns.contains(where: { $0.value.isContradiction }) { isContradiction = true }
    if columns[.absent]?.excludesNull == true { isContradiction = true }
  }

  subscript(_ column: ColumnReference) -> ColumnConstraint { columns[column] ?? ColumnConstraint() }

  private mutating func take(_ filter: BoundFilter, _ table: BoundTable) {
    switch filter {
    case .always(let truth): if truth != .yes { isContradiction = true }
    case .and(let parts): for part in parts { take(part, table) }
    case .or(let parts):
      if parts.isEmpty { isContradiction = true }
      if parts.count == 1 { take(parts[0], table) }
    case .order(let column, let test, let value):
      switch test {
      case .equal: columns[column, default: ColumnConstraint()].equals(oneOf: [value])
      case .notEqual: columns[column, default: ColumnConstraint()].isNotNull()
      case .less: columns[column, default: ColumnConstraint()].atMost(value, isOpen: true)
      case .lessOrEqual: columns[column, default: ColumnConstraint()].atMost(value, isOpen: false)
      case .greater: columns[column, default: ColumnConstraint()].atLeast(value, isOpen: true)
      case .greaterOrEqual: columns[column, default: ColumnConstraint()].atLeast(value, isOpen: false)
      }
    case .oneOf(let column, let values, _):
      if values.isEmpty { isContradiction = true }
      columns[column, default: ColumnConstraint()].equals(oneOf: values)
    case .isNull(let column): columns[column, default: ColumnConstraint()].equals(oneOf: [.null])
    case .isBool(let column, let flag): columns[column, default: ColumnConstraint()].equals(oneOf: [.bool(flag)])
    case .pattern(let column, let pattern):
      columns[column, default: ColumnConstraint()].isNotNull()
      // Where numbers and booleans may match too, the text's range is not all that can be found.
      if case .like(let like) = pattern, table.type(of: column) == .string { take(column, like) }
    case .contains(let column, _), .containedBy(let column, _), .overlaps(let column, _), .textSearch(let column, _):
      columns[column, default: ColumnConstraint()].isNotNull()
    case .not(.isNull(let column)): columns[column, default: ColumnConstraint()].isNotNull()
    case .not(.not(let part)): take(part, table)
    case .isDistinct, .search, .not: break
    }
  }

  private mutating func take(_ column: ColumnReference, _ pattern: LikePattern) {
    guard !pattern.literalPrefix.isEmpty else { return }
    let prefix = String(decoding: pattern.literalPrefix, as: UTF8.self)
    if pattern.isLiteral {
      columns[column, default: ColumnConstraint()].equals(oneOf: [.string(prefix)])
      return
    }
    columns[column, default: ColumnConstraint()].atLeast(.string(prefix), isOpen: false)
    if let end = Self.end(of: prefix) {
      columns[column, default: ColumnConstraint()].atMost(.string(end), isOpen: true)
    }
  }

  /// The first text behind all that begin with this one.
  private static func end(of prefix: String) -> String? {
    var scalars = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      guard last.value < 0x10FFFF else { continue }
      guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { return nil }
      var end = String.UnicodeScalarView()
      end.append(contentsOf: scalars)
      end.append(next)
      return String(end)
    }
    return nil
  }
}
