/// How a text search reads its query. All types ignore case and look for parts of the text, not for whole words.
public enum TextSearchType: String, Hashable, Sendable, CaseIterable {
  /// Every token, split at white space, is somewhere in the text.
  case plain
  /// The whole query is in the text.
  case phrase
  /// Every phrase in double quotes and every token outside them is in the text.
  case websearch
}
