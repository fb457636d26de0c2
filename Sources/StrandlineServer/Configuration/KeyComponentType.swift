/// What a column of a key holds. A component that its type refuses, or would write otherwise, is no key.
public enum KeyComponentType: String, Hashable, Sendable, CaseIterable {
  /// 8-4-4-4-12 hex digits in lower case.
  case uuid
  case text
  case varchar
  case smallint
  case int
  case bigint

  /// Whether the text is what the type writes.
  func isCanonical(_ text: String) -> Bool {
    switch self {
    case .text, .varchar: true
    case .uuid: UUIDBytes(text).map { $0.description.isSame(as: text) } ?? false
    case .smallint: Int16(text).map { String($0).isSame(as: text) } ?? false
    case .int: Int32(text).map { String($0).isSame(as: text) } ?? false
    case .bigint: Int64(text).map { String($0).isSame(as: text) } ?? false
    }
  }
}
