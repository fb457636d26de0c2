/// Takes the case off text: every scalar becomes its lower-case form where that is a single scalar.
enum TextFolding {
  static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII { return scalar.value &- 0x41 < 26 ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar }
    let mapping = scalar.properties.lowercaseMapping.unicodeScalars
    return mapping.count == 1 ? mapping.first ?? scalar : scalar
  }

  /// The other way, for asking a set of scalars about both forms.
  static func raised(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII { return scalar.value &- 0x61 < 26 ? Unicode.Scalar(UInt8(scalar.value) & 0xDF) : scalar }
    let mapping = scalar.properties.uppercaseMapping.unicodeScalars
    return mapping.count == 1 ? mapping.first ?? scalar : scalar
  }

  /// The text in UTF-8 without its case.
  static func folded(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    var isASCII = true
    for index in bytes.indices {
      let byte = bytes[index]
      if byte >= 0x80 {
        isASCII = false
        break
      }
      if byte &- 0x41 < 26 { bytes[index] = byte | 0x20 }
    }
    if isASCII { return bytes }
    bytes.removeAll(keepingCapacity: true)
    for scalar in text.unicodeScalars { bytes.append(contentsOf: UTF8.encode(folded(scalar))!) }
    return bytes
  }
}
