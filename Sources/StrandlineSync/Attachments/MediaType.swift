/// What kind of file it is, by its words and by its name.
enum MediaType {
  static let unknown = "application/octet-stream"

  private static let extensions = [
    "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif", "image/heic": "heic",
    "application/pdf": "pdf",
  ]

  /// The ending of an object's name; `bin` for what is not in the list.
  static func fileExtension(of mediaType: String) -> String {
    let word = mediaType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
    return extensions[word] ?? "bin"
  }

  /// The media type of a file, by the ending of its name.
  static func ofFile(at path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return unknown }
    let ending = name[name.index(after: dot)...].lowercased()
    return extensions.first { $0.value == (ending == "jpeg" ? "jpg" : ending) }?.key ?? unknown
  }
}
