/// The bugs that the text of a changelog entry closes, by the rule of Debian Policy 4.4:
///
///     closes: (bug)? #? NUMBER (, (bug)? #? NUMBER)*
///
/// in any case, with blanks and line breaks wherever they may stand.
enum ClosedBugs {
  /// Numbers above this are typing errors; the tracker has seen about a million bugs.
  private static let numberMax = 99_999_999

  static func numbers(in lines: [Slice<UnsafeRawBufferPointer>]) -> [Int] {
    // Most entries have no such word: look before copying anything.
    guard lines.contains(where: { firstKeyword(in: $0) != nil }) else { return [] }
    return numbers(in: Array(lines.joined(separator: [0x0A])))
  }

  static func numbers(in text: [UInt8]) -> [Int] {
    var numbers: [Int] = []
    var rest = text[...]
    while let keyword = firstKeyword(in: rest) {
      rest = rest[(keyword + "closes:".utf8.count)...]
      while let number = takeNumber(&rest) {
        if number <= numberMax, !numbers.contains(number) { numbers.append(number) }
        skipBlanks(&rest)
        guard rest.first == UInt8(ascii: ",") else { break }
        rest = rest.dropFirst()
      }
    }
    return numbers
  }

  private static func firstKeyword<Bytes: RandomAccessCollection<UInt8>>(in bytes: Bytes) -> Bytes.Index? {
    var rest = bytes[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      let word = bytes[..<colon].suffix(6)
      if word.count == 6, zip(word, "closes".utf8).allSatisfy({ $0 | 0x20 == $1 }) { return word.startIndex }
      rest = rest[rest.index(after: colon)...]
    }
    return nil
  }

  /// `bug`, `#` and blanks, all of them optional, and the digits.
  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Int? {
    var tried = rest
    skipBlanks(&tried)
    if tried.count >= 3, zip(tried.prefix(3), "bug".utf8).allSatisfy({ $0 | 0x20 == $1 }) { tried = tried.dropFirst(3) }
    skipBlanks(&tried)
    if tried.first == UInt8(ascii: "#") { tried = tried.dropFirst() }
    skipBlanks(&tried)
    let digits = tried.prefix { (0x30...0x39).contains($0) }
    guard !digits.isEmpty else { return nil }
    rest = tried[digits.endIndex...]
    return Int(String(decoding: digits, as: UTF8.self)) ?? .max
  }

  private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
    rest = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
  }
}
