import Strandline

/// What filters mean, written down as dully as can be: one row, one filter, no preparation. `nil` is unknown.
struct ModelFilter {
  /// Types of columns, where texts stand for other values.
  var types: [String: ColumnType] = [:]

  func answer(_ filter: Filter, _ row: [String: Value]) -> Bool? {
    switch filter {
    case .and(let parts):
      let answers = parts.map { answer($0, row) }
      if answers.contains(false) { return false }
      return answers.contains(nil) ? nil : true
    case .or(let parts):
      let answers = parts.map { answer($0, row) }
      if answers.contains(true) { return true }
      return answers.contains(nil) ? nil : false
    case .not(let part): return answer(part, row).map { !$0 }
    case .search(let text):
      if isBlank(text) { return true }
      return row.values.contains { value in
        self.text(value, withBooleans: false).map { Self.isPart(text, of: $0) } ?? false
      }
    case .textSearch(let column, let query, let type):
      let parts = Self.parts(query, type)
      if parts.isEmpty { return true }
      let cell = row[column] ?? .null
      if cell == .null { return nil }
      guard let text = text(cell, withBooleans: false) else { return false }
      return parts.allSatisfy { Self.isPart($0, of: text) }
    case .column(let column, let comparison, let operand):
      return answer(row[column] ?? .null, comparison, operand, types[column] ?? .any)
    }
  }

  private func converted(_ operand: Value, _ type: ColumnType) -> Value {
    switch (operand, type) {
    case (.string, .uuid), (.string, .bytes), (.string, .timestamp), (.string, .decimal), (.string, .double),
      (.int, .timestamp), (.double, .timestamp), (.decimal, .timestamp):
      operand.converted(to: type) ?? operand
    default: operand
    }
  }

  private func answer(_ cell: Value, _ comparison: Comparison, _ operand: Value, _ type: ColumnType) -> Bool? {
    let isUnknown = cell == .null || operand == .null
    func ordered(_ test: (Int) -> Bool, ifNone: Bool) -> Bool? {
      if isUnknown { return nil }
      return Self.order(cell, converted(operand, type)).map(test) ?? ifNone
    }
    func members() -> [Value] { if case .array(let members) = operand { members } else { [] } }
    func each(_ other: Comparison) -> [Bool?] { members().map { answer(cell, other, $0, type) } }
    func all(_ answers: [Bool?]) -> Bool? { answers.contains(false) ? false : answers.contains(nil) ? nil : true }
    func any(_ answers: [Bool?]) -> Bool? { answers.contains(true) ? true : answers.contains(nil) ? nil : false }
    func pattern(_ matches: (String, String) -> Bool) -> Bool? {
      guard !isUnknown, case .string(let pattern) = operand else { return nil }
      return text(cell, withBooleans: true).map { matches(pattern, $0) } ?? false
    }
    switch comparison {
    case .equals: return ordered({ $0 == 0 }, ifNone: false)
    case .notEquals: return ordered({ $0 != 0 }, ifNone: true)
    case .greaterThan: return ordered({ $0 > 0 }, ifNone: false)
    case .greaterThanOrEquals: return ordered({ $0 >= 0 }, ifNone: false)
    case .lessThan: return ordered({ $0 < 0 }, ifNone: false)
    case .lessThanOrEquals: return ordered({ $0 <= 0 }, ifNone: false)
    case .like: return pattern { Self.isLike(Array($0.unicodeScalars)[...], Array($1.unicodeScalars)[...]) }
    case .ilike:
      return pattern {
        Self.isLike(Array($0.lowercased().unicodeScalars)[...], Array($1.lowercased().unicodeScalars)[...])
      }
    case .likeAllOf: return all(each(.like))
    case .likeAnyOf: return any(each(.like))
    case .ilikeAllOf: return all(each(.ilike))
    case .ilikeAnyOf: return any(each(.ilike))
    case .match: return pattern { Self.finds($0, $1) }
    case .imatch: return pattern { Self.finds($0.lowercased(), $1.lowercased()) }
    case .is: return operand == .null ? cell == .null : cell == operand
    case .isDistinct:
      if cell == .null || operand == .null { return !(cell == .null && operand == .null) }
      return Self.order(cell, converted(operand, type)) != 0
    case .in: return members().isEmpty ? false : any(each(.equals))
    case .notIn: return members().isEmpty ? true : any(each(.equals)).map { !$0 }
    case .contains: return isUnknown ? nil : Self.has(document(cell), operand, isOutermost: true)
    case .containedBy: return isUnknown ? nil : Self.has(operand, document(cell), isOutermost: true)
    case .overlaps:
      if isUnknown { return nil }
      guard case .array(let cells) = document(cell) else { return false }
      return cells.contains { one in members().contains { Self.order(one, $0) == 0 } }
    }
  }

  private func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

  private func document(_ cell: Value) -> Value {
    if case .string(let text) = cell, let value = try? Value.json(text) { return value }
    return cell
  }

  /// What patterns see. Test data has no doubles whose text is not obvious.
  private func text(_ cell: Value, withBooleans: Bool) -> String? {
    switch cell {
    case .string(let text), .decimal(let text): text
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): withBooleans ? "\(flag)" : nil
    default: nil
    }
  }

  /// Nil: of different kinds. Test data has only numbers that a double holds.
  static func order(_ left: Value, _ right: Value) -> Int? {
    func sign<Number: Comparable>(_ one: Number, _ other: Number) -> Int { one < other ? -1 : one > other ? 1 : 0 }
    func number(_ value: Value) -> Double? {
      switch value {
      case .int(let number): Double(number)
      case .double(let number): number
      case .decimal(let text): Double(text)
      default: nil
      }
    }
    if let one = number(left), let other = number(right) { return sign(one, other) }
    switch (left, right) {
    case (.null, .null): return 0
    case (.bool(let one), .bool(let other)): return sign(one ? 1 : 0, other ? 1 : 0)
    case (.timestamp(let one), .timestamp(let other)): return sign(one, other)
    case (.string(let one), .string(let other)):
      let (one, other) = (one.unicodeScalars.map(\.value), other.unicodeScalars.map(\.value))
      return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    case (.bytes(let one), .bytes(let other)): return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    case (.uuid(let one), .uuid(let other)): return sign(one, other)
    case (.array(let one), .array(let other)):
      for (first, second) in zip(one, other) {
        let result = total(first, second)
        if result != 0 { return result }
      }
      return sign(one.count, other.count)
    case (.object(let one), .object(let other)):
      for (first, second) in zip(one.sorted { $0.key < $1.key }, other.sorted { $0.key < $1.key }) {
        if first.key != second.key { return first.key < second.key ? -1 : 1 }
        let result = total(first.value, second.value)
        if result != 0 { return result }
      }
      return sign(one.count, other.count)
    default: return nil
    }
  }

  /// The order of values that rows are sorted by.
  static func total(_ left: Value, _ right: Value) -> Int { order(left, right) ?? rank(left) - rank(right) }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .int, .decimal, .double: 2
    case .timestamp: 3
    case .string: 4
    case .bytes: 5
    case .uuid: 6
    case .array: 7
    case .object: 8
    }
  }

  static func isLike(_ pattern: ArraySlice<Unicode.Scalar>, _ text: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case "%": return isLike(rest, text) || (!text.isEmpty && isLike(pattern, text.dropFirst()))
    case "_": return !text.isEmpty && isLike(rest, text.dropFirst())
    case "\\": return rest.first == text.first && isLike(rest.dropFirst(), text.dropFirst())
    default: return first == text.first && isLike(rest, text.dropFirst())
    }
  }

  private static func finds(_ pattern: String, _ text: String) -> Bool {
    guard let regex = try? Regex(pattern).matchingSemantics(.unicodeScalar) else { return false }
    return text.firstMatch(of: regex) != nil
  }

  private static func isPart(_ part: String, of text: String) -> Bool {
    let part = Array(part.lowercased().unicodeScalars)
    let text = Array(text.lowercased().unicodeScalars)
    return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
  }

  private static func parts(_ query: String, _ type: TextSearchType) -> [String] {
    func tokens(_ text: String) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }
    switch type {
    case .plain: return tokens(query)
    case .phrase: return query.allSatisfy(\.isWhitespace) ? [] : [query]
    case .websearch:
      var parts: [String] = []
      for (place, piece) in query.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
        if place % 2 == 0 {
          parts += tokens(String(piece))
        } else if !piece.allSatisfy(\.isWhitespace) {
          parts.append(String(piece))
        }
      }
      return parts
    }
  }

  private static func has(_ whole: Value, _ part: Value, isOutermost: Bool) -> Bool {
    if case .object(let one) = whole, case .object(let other) = part {
      return other.allSatisfy { name, value in one[name].map { has($0, value, isOutermost: false) } ?? false }
    }
    if case .array(let one) = whole {
      if case .array(let other) = part {
        return other.allSatisfy { value in one.contains { has($0, value, isOutermost: false) } }
      }
      if isOutermost { return one.contains { order($0, part) == 0 } }
      return false
    }
    return order(whole, part) == 0
  }
}
