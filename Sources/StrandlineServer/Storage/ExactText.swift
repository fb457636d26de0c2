extension String {
  /// Equality of the bytes; `==` takes different texts for one.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Order of the bytes.
  func isOrdered(before other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }

  /// Bytes that the text takes inside a key of a storage, at most: zeros are escaped, in keys of indexes twice.
  var storedByteCount: Int { utf8.reduce(0) { $0 + ($1 == 0 ? 3 : 1) } }
}

/// A text as a key of dictionaries and sets, told apart by its bytes.
struct ExactText: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (left: ExactText, right: ExactText) -> Bool { left.text.isSame(as: right.text) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
