extension QueryPlan {
  /// Columns out of a list with commas, as in `"id, title"`: blanks around names and empty segments are dropped; `*` and nothing at all
  /// are every column.
  public static func columns(of list: String) -> [String]? {
    let names = list.unicodeScalars.split(separator: ",").map { segment in
      let front = segment.drop { $0.properties.isWhitespace }
      return String(
        Substring(
          front.prefix(
            upTo: front.lastIndex { !$0.properties.isWhitespace }.map(front.index(after:)) ?? front.startIndex)))
    }.filter { !$0.isEmpty }
    return names.isEmpty || names.contains("*") ? nil : names
  }
}
