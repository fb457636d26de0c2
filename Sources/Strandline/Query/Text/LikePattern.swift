/// A pattern of SQL's `like`: `%` any text, `_` one code point, `\` before a character that stands for itself.
struct LikePattern {
  private enum Element: Equatable {
    case byte(UInt8)
    case one
    case any
  }

  private let elements: [Element]
  private let isFolded: Bool
  /// The text that every match begins with; empty when case is ignored.
  let literalPrefix: [UInt8]
  /// The pattern has no wildcard: only ``literalPrefix`` matches.
  let isLiteral: Bool

  init(_ pattern: String, ignoringCase: Bool) throws(StoreError) {
    var elements: [Element] = []
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "%" where !isEscaped:
        if elements.last != .any { elements.append(.any) }
      case "_" where !isEscaped:
        elements.append(.one)
      default:
        let literal = ignoringCase ? TextFolding.folded(scalar) : scalar
        for byte in UTF8.encode(literal)! { elements.append(.byte(byte)) }
      }
      isEscaped = false
    }
    if isEscaped { throw .invalidQuery(reason: "a like pattern ends with the escape character \\") }
    self.elements = elements
    isFolded = ignoringCase
    var prefix: [UInt8] = []
    for element in elements {
      guard case .byte(let byte) = element else { break }
      prefix.append(byte)
    }
    isLiteral = prefix.count == elements.count && !ignoringCase
    literalPrefix = ignoringCase ? [] : prefix
  }

  func matches(_ text: String) -> Bool {
    if isFolded { return TextFolding.folded(text).withUnsafeBufferPointer(matches) }
    if let answer = text.utf8.withContiguousStorageIfAvailable(matches) { return answer }
    return Array(text.utf8).withUnsafeBufferPointer(matches)
  }

  // Goes on greedily; at a mismatch the last `%` takes one byte more. UTF-8 synchronises itself, so that only `_` has to know where a
  // code point ends.
  private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    elements.withUnsafeBufferPointer { elements in
      var place = 0
      var next = 0
      var retryElement = -1
      var retryPlace = 0
      while true {
        if next == elements.count {
          if place == text.count { return true }
        } else {
          switch elements[next] {
          case .any:
            if next + 1 == elements.count { return true }
            next += 1
            retryElement = next
            retryPlace = place
            continue
          case .byte(let byte):
            if place < text.count, text[place] == byte {
              place += 1
              next += 1
              continue
            }
          case .one:
            if place < text.count, text[place] & 0xC0 != 0x80 {
              place += 1
              while place < text.count, text[place] & 0xC0 == 0x80 { place += 1 }
              next += 1
              continue
            }
          }
        }
        guard retryElement >= 0, retryPlace < text.count else { return false }
        retryPlace += 1
        place = retryPlace
        next = retryElement
      }
    }
  }
}
