/// Bytes as hexadecimal digits.
enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  static func text(_ bytes: some Sequence<UInt8>) -> String {
    var result: [UInt8] = []
    append(bytes, to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  static func append(_ bytes: some Sequence<UInt8>, to result: inout [UInt8]) {
    for byte in bytes {
      result.append(digits[Int(byte >> 4)])
      result.append(digits[Int(byte & 15)])
    }
  }

  /// `00001040  f5 0d 0a 1a 01 00 00 00  …  |........|`: sixteen bytes a line, as `hexdump -C` prints them.
  static func line(at offset: Int64, _ bytes: ArraySlice<UInt8>) -> String {
    var line = padded(UInt64(clamping: offset)) + "  "
    for index in 0..<16 {
      let place = bytes.startIndex + index
      line += place < bytes.endIndex ? text(CollectionOfOne(bytes[place])) + " " : "   "
      if index == 7 { line += " " }
    }
    let shown = bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
    return line + " |" + String(decoding: shown, as: UTF8.self) + "|"
  }

  private static func padded(_ offset: UInt64) -> String {
    let text = String(offset, radix: 16)
    return String(repeating: "0", count: max(0, 8 - text.count)) + text
  }
}
