/// A value as sets know it: two are the same exactly when ``Strandline/Value/equalsOnWire(_:)`` says so.
///
/// Whole contents are hashed, so that no choice of values makes a set slow.
struct WireIdentity: Hashable {
  private enum Form: Hashable {
    /// Null, truths, texts, bytes, UUIDs, times: these are equal only to themselves.
    case exact(Value)
    /// A number that a double holds, whatever it was written as.
    case double(Double)
    /// A whole number that no double holds.
    case whole(Int64)
    /// Any other number, in the one way to write it.
    case decimal(String)
    case notANumber
    case array([WireIdentity])
    /// In the order of the names.
    case object([Member])
  }

  private struct Member: Hashable {
    var name: Value
    var value: WireIdentity
  }

  private let form: Form

  init(_ value: Value) {
    form =
      switch value {
      case .null, .bool, .string, .bytes, .uuid, .timestamp: .exact(value)
      case .int(let number): Self.form(number)
      case .double(let number): number.isNaN ? .notANumber : .double(number)
      case .decimal(let text): Self.form(decimal: text)
      case .array(let members): .array(members.map(WireIdentity.init))
      case .object(let members):
        .object(
          members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
            Member(name: .string($0.key), value: WireIdentity($0.value))
          })
      }
  }

  private static func form(_ number: Int64) -> Form {
    Double(exactly: number).map { .double($0) } ?? .whole(number)
  }

  private static func form(decimal text: String) -> Form {
    let decimal = Value.decimal(text)
    if case .int(let number)? = decimal.converted(to: .int) { return form(number) }
    guard case .double(let nearest)? = decimal.converted(to: .double) else { return .notANumber }
    if decimal.equalsOnWire(.double(nearest)) { return .double(nearest) }
    return .decimal(shortest(text))
  }

  /// The decimal without a plus and without zeros that say nothing.
  private static func shortest(_ text: String) -> String {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let digits = text.drop { $0 == "-" || $0 == "+" }.split(separator: ".", omittingEmptySubsequences: false)
    let whole = digits[0].drop { $0 == "0" }
    var fraction = digits.count > 1 ? digits[1] : ""
    while fraction.last == "0" { fraction.removeLast() }
    return "\(isNegative ? "-" : "")\(whole).\(fraction)"
  }
}
