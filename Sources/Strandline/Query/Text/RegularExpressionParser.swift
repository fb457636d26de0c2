/// Reads a regular expression.
struct RegularExpressionParser {
  /// Groups within groups, which bounds the stack.
  private static let depthMax = 100
  private static let repetitionMax = 1000

  private let scalars: [Unicode.Scalar]
  private let ignoresCase: Bool
  private var place = 0
  private var depth = 0

  static func parse(_ pattern: String, ignoringCase: Bool) throws(StoreError) -> RegularExpressionSyntax {
    var parser = RegularExpressionParser(pattern, ignoringCase: ignoringCase)
    let syntax = try parser.choice()
    if parser.place < parser.scalars.count { throw parser.refusal("a ) without its (") }
    return syntax
  }

  private init(_ pattern: String, ignoringCase: Bool) {
    scalars = Array(pattern.unicodeScalars)
    ignoresCase = ignoringCase
  }

  private func refusal(_ reason: String) -> StoreError {
    .invalidQuery(reason: "regular expression: \(reason) (at character \(place + 1))")
  }

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    place += 1
    return true
  }

  private mutating func choice() throws(StoreError) -> RegularExpressionSyntax {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.depthMax { throw refusal("more than \(Self.depthMax) groups within each other") }
    var ways = [try sequence()]
    while take("|") { ways.append(try sequence()) }
    return ways.count == 1 ? ways[0] : .choice(ways)
  }

  private mutating func sequence() throws(StoreError) -> RegularExpressionSyntax {
    var parts: [RegularExpressionSyntax] = []
    while let scalar = next, scalar != "|", scalar != ")" { parts.append(try repeated()) }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
  }

  private mutating func repeated() throws(StoreError) -> RegularExpressionSyntax {
    let part = try atom()
    guard let (least, most) = try quantifier() else { return part }
    if case .assertion = part { throw refusal("nothing to repeat") }
    _ = take("?")
    if try quantifier() != nil { throw refusal("nothing to repeat") }
    return .repetition(part, least, most)
  }

  private mutating func quantifier() throws(StoreError) -> (Int, Int?)? {
    switch next {
    case "*":
      place += 1
      return (0, nil)
    case "+":
      place += 1
      return (1, nil)
    case "?":
      place += 1
      return (0, 1)
    case "{":
      guard place + 1 < scalars.count, Self.isDigit(scalars[place + 1]) else { return nil }
      place += 1
      let least = try number()
      var most: Int? = least
      if take(",") { most = next == "}" ? nil : try number() }
      guard take("}") else { throw refusal("a { without its }") }
      if let most, most < least { throw refusal("{\(least),\(most)} counts down") }
      return (least, most)
    default: return nil
    }
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { scalar >= "0" && scalar <= "9" }

  private mutating func number() throws(StoreError) -> Int {
    var number = 0
    let start = place
    while let scalar = next, Self.isDigit(scalar) {
      number = number * 10 + Int(scalar.value - 0x30)
      if number > Self.repetitionMax { throw refusal("a repetition of more than \(Self.repetitionMax)") }
      place += 1
    }
    if place == start { throw refusal("a number is missing") }
    return number
  }

  private mutating func atom() throws(StoreError) -> RegularExpressionSyntax {
    guard let scalar = next else { return .empty }
    place += 1
    switch scalar {
    case "(": return try group()
    case "[": return .set(try bracket())
    case ".": return .set(.all)
    case "^": return .assertion(.start)
    case "$": return .assertion(.end)
    case "*", "+", "?":
      place -= 1
      throw refusal("nothing to repeat")
    case "\\": return try escape()
    default: return literal(scalar)
    }
  }

  private func literal(_ scalar: Unicode.Scalar) -> RegularExpressionSyntax {
    .scalar(ignoresCase ? TextFolding.folded(scalar) : scalar)
  }

  private mutating func group() throws(StoreError) -> RegularExpressionSyntax {
    if take("?") {
      if take("P") {
        if next == "=" || next == ">" { throw refusal("back-references are not supported") }
        guard next == "<" else { throw refusal("an unknown kind of group") }
      }
      switch next {
      case ":": place += 1
      case "=", "!": throw refusal("looking ahead is not supported")
      case "<":
        place += 1
        if next == "=" || next == "!" { throw refusal("looking behind is not supported") }
        let start = place
        while let scalar = next, scalar != ">" {
          guard scalar == "_" || scalar.properties.isAlphabetic || Self.isDigit(scalar) else { break }
          place += 1
        }
        if place == start || !take(">") { throw refusal("a group's name") }
      default: throw refusal("an unknown kind of group")
      }
    }
    let inner = try choice()
    guard take(")") else { throw refusal("a ( without its )") }
    return inner
  }

  private mutating func escape() throws(StoreError) -> RegularExpressionSyntax {
    guard let scalar = next else { throw refusal("nothing behind the last \\") }
    switch scalar {
    case "1"..."9": throw refusal("back-references are not supported")
    case "k": throw refusal("back-references are not supported")
    case "b", "y":
      place += 1
      return .assertion(.wordEdge)
    case "B", "Y":
      place += 1
      return .assertion(.noWordEdge)
    case "m":
      place += 1
      return .assertion(.wordStart)
    case "M":
      place += 1
      return .assertion(.wordEnd)
    case "A":
      place += 1
      return .assertion(.start)
    case "z", "Z":
      place += 1
      return .assertion(.end)
    default:
      if let kind = try classEscape() { return .set(ScalarSet(classes: [kind])) }
      return literal(try scalarEscape())
    }
  }

  /// `\d` and its kin; nil and nothing taken for another escape.
  private mutating func classEscape() throws(StoreError) -> (ScalarSet.Class, isNegated: Bool)? {
    let kind: (ScalarSet.Class, Bool)? =
      switch next {
      case "d": (.digit, false)
      case "D": (.digit, true)
      case "w": (.word, false)
      case "W": (.word, true)
      case "s": (.space, false)
      case "S": (.space, true)
      default: nil
      }
    guard let kind else { return nil }
    place += 1
    return (kind.0, isNegated: kind.1)
  }

  private mutating func scalarEscape() throws(StoreError) -> Unicode.Scalar {
    guard let scalar = next else { throw refusal("nothing behind the last \\") }
    place += 1
    switch scalar {
    case "t": return "\t"
    case "n": return "\n"
    case "r": return "\r"
    case "f": return "\u{0C}"
    case "v": return "\u{0B}"
    case "a": return "\u{07}"
    case "e": return "\u{1B}"
    case "0": return "\0"
    case "x":
      if take("{") {
        let scalar = try hexadecimal(1...6)
        guard take("}") else { throw refusal("a { without its }") }
        return scalar
      }
      return try hexadecimal(2...2)
    case "u": return try hexadecimal(4...4)
    case "U": return try hexadecimal(8...8)
    default:
      if scalar.isASCII, scalar.properties.isAlphabetic || Self.isDigit(scalar) {
        place -= 1
        throw refusal("an unknown escape \\\(scalar)")
      }
      return scalar
    }
  }

  private mutating func hexadecimal(_ counts: ClosedRange<Int>) throws(StoreError) -> Unicode.Scalar {
    var number: UInt32 = 0
    var count = 0
    while count < counts.upperBound, let scalar = next, let digit = Character(scalar).hexDigitValue, scalar.isASCII {
      number = number << 4 | UInt32(digit)
      place += 1
      count += 1
    }
    guard count >= counts.lowerBound, let scalar = Unicode.Scalar(number) else {
      throw refusal("a code point in hexadecimal")
    }
    return scalar
  }

  private mutating func bracket() throws(StoreError) -> ScalarSet {
    var set = ScalarSet()
    set.ignoresCase = ignoresCase
    set.isNegated = take("^")
    var isFirst = true
    while true {
      guard let scalar = next else { throw refusal("a [ without its ]") }
      if scalar == "]", !isFirst {
        place += 1
        return set
      }
      isFirst = false
      if scalar == "[", place + 1 < scalars.count, scalars[place + 1] == ":" {
        set.add(posix: try posixClass())
        continue
      }
      if scalar == "\\" {
        place += 1
        if let kind = try classEscape() {
          set.classes.append(kind)
          continue
        }
        try addRange(from: try scalarEscape(), to: &set)
        continue
      }
      place += 1
      try addRange(from: scalar, to: &set)
    }
  }

  private mutating func addRange(from lower: Unicode.Scalar, to set: inout ScalarSet) throws(StoreError) {
    guard next == "-", place + 1 < scalars.count, scalars[place + 1] != "]" else {
      set.ranges.append(lower.value...lower.value)
      return
    }
    place += 1
    guard var upper = next else { throw refusal("a [ without its ]") }
    place += 1
    if upper == "\\" {
      if try classEscape() != nil { throw refusal("a range that ends in a class") }
      upper = try scalarEscape()
    }
    if upper < lower { throw refusal("a range that counts down") }
    set.ranges.append(lower.value...upper.value)
  }

  private mutating func posixClass() throws(StoreError) -> String {
    place += 2
    var name = ""
    while let scalar = next, scalar != ":" {
      name.unicodeScalars.append(scalar)
      place += 1
    }
    guard take(":"), take("]"), ScalarSet.posixNames.contains(name) else {
      throw refusal("an unknown class [:\(name):]")
    }
    return name
  }
}

extension ScalarSet {
  static let posixNames: Set<String> = [
    "alpha", "digit", "alnum", "upper", "lower", "space", "blank", "punct", "xdigit", "cntrl", "print", "graph", "word",
    "ascii",
  ]

  fileprivate mutating func add(posix name: String) {
    switch name {
    case "alpha": classes.append((.alpha, false))
    case "digit": classes.append((.digit, false))
    case "alnum": classes += [(.alpha, false), (.digit, false)]
    case "upper": classes.append((.upper, false))
    case "lower": classes.append((.lower, false))
    case "space": classes.append((.space, false))
    case "punct": classes.append((.punctuation, false))
    case "word": classes.append((.word, false))
    case "blank": ranges += [0x20...0x20, 0x09...0x09]
    case "xdigit": ranges += [0x30...0x39, 0x41...0x46, 0x61...0x66]
    case "cntrl": ranges += [0...0x1F, 0x7F...0x9F]
    case "print": ranges += [0x20...0x7E, 0xA0...0x10FFFF]
    case "graph": ranges += [0x21...0x7E, 0xA1...0x10FFFF]
    default: ranges.append(0...0x7F)
    }
  }
}
