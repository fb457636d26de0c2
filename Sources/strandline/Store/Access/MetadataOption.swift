/// `--metadata NAME=TEXT`: words about a commit that are kept with it.
enum MetadataOption {
  static let option = CommandSpecification.Option(
    "--metadata", "NAME=TEXT", isRepeatable: true, summary: "Kept with the commit, for people and consumers of changes."
  )

  static func value(_ arguments: Arguments) throws(UsageError) -> [String: String] {
    var metadata: [String: String] = [:]
    for text in arguments.values("--metadata") {
      guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
        throw .invalidValue(option: "--metadata", value: text, expected: "NAME=TEXT")
      }
      metadata[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    return metadata
  }
}
