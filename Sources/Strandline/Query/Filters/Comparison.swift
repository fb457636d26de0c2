/// How a filter compares a cell with its operand. The raw values are the names that stored plans and scenario files use.
///
/// Numbers compare as numbers whatever their kind (2 equals 2.0), strings by code point. Values of different kinds are neither equal nor
/// in any order: 5 is not less than `"6"`. A null or absent cell and a null operand make the answer unknown, except where a case says
/// otherwise; a row is found only when its filters are true.
public enum Comparison: String, Hashable, Sendable, CaseIterable {
  case equals = "eq"
  case notEquals = "neq"
  case greaterThan = "gt"
  case greaterThanOrEquals = "gte"
  case lessThan = "lt"
  case lessThanOrEquals = "lte"
  /// `%` stands for any text, `_` for one code point, `\` takes the meaning off the next. Sees strings, numbers and booleans; every other
  /// cell does not match.
  case like
  /// `like` with case ignored.
  case ilike
  /// As `like` of every pattern of an array.
  case likeAllOf
  /// As `like` of at least one pattern of an array.
  case likeAnyOf
  case ilikeAllOf
  case ilikeAnyOf
  /// A regular expression finds something in the text; see ``RegularExpressionSyntax``. Sees what `like` sees.
  case match
  /// `match` with case ignored.
  case imatch
  /// The operand is null, true or false. Never unknown; null is found in absent cells too.
  case `is`
  /// Not equal, with null a value like others. Never unknown.
  case isDistinct
  /// Equals one of the values of an array.
  case `in`
  /// Equals none of the values of an array.
  case notIn
  /// The cell, an array or object or a string that holds JSON, has in it everything that the operand has.
  case contains
  /// The operand has in it everything that the cell has.
  case containedBy
  /// The cell and the operand, both arrays, have a member in common.
  case overlaps
}
