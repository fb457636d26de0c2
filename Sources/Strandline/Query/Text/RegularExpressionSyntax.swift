/// What a regular expression is made of.
///
/// Read are: characters that stand for themselves, `.`, `[…]` and `[^…]` with ranges and POSIX classes (`[[:alpha:]]`), `^ $`, groups
/// `(…)`, `(?:…)` and named ones, `|`, `* + ? {n} {n,} {n,m}` with or without a `?` behind (it makes no difference to whether something
/// is found), `\d \D \w \W \s \S`, `\b \B \y \Y \m \M \A \z \Z`, `\t \n \r \f \v \e \0 \xHH \x{…} \uHHHH`, and `\` in front of any other
/// character that is no letter or digit. Back-references and looking around are refused, so that every search takes time in proportion
/// to the text.
indirect enum RegularExpressionSyntax {
  case empty
  case scalar(Unicode.Scalar)
  case set(ScalarSet)
  case assertion(RegularExpression.Assertion)
  case sequence([RegularExpressionSyntax])
  case choice([RegularExpressionSyntax])
  /// Nil: as often as it will.
  case repetition(RegularExpressionSyntax, Int, Int?)
}

/// Scalars by range, or all but those.
struct ScalarSet {
  enum Class {
    case digit, word, space, alpha, upper, lower, punctuation
  }

  var ranges: [ClosedRange<UInt32>] = []
  var classes: [(Class, isNegated: Bool)] = []
  var isNegated = false
  /// Scalars are asked in both cases.
  var ignoresCase = false

  static var all: ScalarSet { ScalarSet(isNegated: true) }

  func contains(_ scalar: Unicode.Scalar) -> Bool {
    var isIn = includes(scalar)
    if !isIn, ignoresCase {
      isIn = includes(TextFolding.folded(scalar)) || includes(TextFolding.raised(scalar))
    }
    return isIn != isNegated
  }

  private func includes(_ scalar: Unicode.Scalar) -> Bool {
    ranges.contains { $0.contains(scalar.value) } || classes.contains { Self.isIn($0.0, scalar) != $0.isNegated }
  }

  static func isIn(_ kind: Class, _ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return switch kind {
    case .digit: properties.generalCategory == .decimalNumber
    case .space: properties.isWhitespace
    case .alpha: properties.isAlphabetic
    case .upper: properties.isUppercase
    case .lower: properties.isLowercase
    case .word:
      scalar == "_" || properties.isAlphabetic || properties.generalCategory == .decimalNumber
        || properties.generalCategory == .nonspacingMark
    case .punctuation:
      switch properties.generalCategory {
      case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
        .finalPunctuation, .otherPunctuation:
        true
      default: scalar.isASCII && "$+<=>^`|~".unicodeScalars.contains(scalar)
      }
    }
  }
}
