/// The texts that a text search asks for, without their case.
struct TextQuery {
  let parts: [[UInt8]]

  init(_ query: String, _ type: TextSearchType) {
    parts =
      switch type {
      case .plain: Self.tokens(query[...].unicodeScalars)
      case .phrase: query.isBlank ? [] : [TextFolding.folded(query)]
      case .websearch: Self.phrasesAndTokens(query)
      }
  }

  /// Nothing asked for finds everything.
  func matches(_ text: String) -> Bool {
    if parts.isEmpty { return true }
    let folded = TextFolding.folded(text)
    return parts.allSatisfy { ByteSearch.contains(folded, $0) }
  }

  private static func tokens(_ text: Substring.UnicodeScalarView) -> [[UInt8]] {
    text.split { $0.properties.isWhitespace }.map { TextFolding.folded(String($0)) }
  }

  /// A quote without its partner begins a phrase that goes on to the end.
  private static func phrasesAndTokens(_ query: String) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    for (index, piece) in query.unicodeScalars.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
      if index.isMultiple(of: 2) {
        parts += tokens(piece)
      } else if !String(piece).isBlank {
        parts.append(TextFolding.folded(String(piece)))
      }
    }
    return parts
  }
}
