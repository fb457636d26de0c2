/// The three values of a filter's answer, in an order in which `and` is the least and `or` the greatest.
enum Truth: UInt8, Comparable, Sendable {
  case no
  /// A null or absent cell, or a null operand, was compared.
  case unknown
  case yes

  init(_ answer: Bool) { self = answer ? .yes : .no }

  static func < (left: Truth, right: Truth) -> Bool { left.rawValue < right.rawValue }

  static prefix func ! (truth: Truth) -> Truth {
    switch truth {
    case .no: .yes
    case .unknown: .unknown
    case .yes: .no
    }
  }
}
