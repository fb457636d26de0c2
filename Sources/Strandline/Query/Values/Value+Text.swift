extension Value {
  /// What `like` and its kin see of a cell: strings, numbers and booleans as text; nil for the rest.
  var patternText: String? {
    switch self {
    case .bool(let flag): flag ? "true" : "false"
    default: searchText
    }
  }

  /// What `search` sees of a cell: strings and numbers as text; nil for the rest.
  var searchText: String? {
    switch self {
    case .string(let text): text
    case .int(let number): String(number)
    case .decimal(let text): text
    case .double(let number): number.description
    case .null, .bool, .bytes, .uuid, .timestamp, .array, .object: nil
    }
  }
}
