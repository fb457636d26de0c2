import Glibc

/// Reads the format of deb-changelog(5) from bytes that may hold anything.
///
///     package (version) distributions; urgency=medium
///
///       * What changed. Closes: #123456
///
///      -- Name <mail@example.org>  Mon, 02 Jan 2006 15:04:05 +0000
///
/// Thirty years of hand-written files: what does not fit is counted and passed over, the entries around it are kept.
struct ChangelogParser {
  /// What a file held.
  struct Result: Equatable {
    /// In file order: newest first.
    var entries: [ChangelogEntry] = []
    /// Headings without a trailer, trailers without a heading or a date, and stretches of text outside any entry.
    var malformedCount = 0
  }

  private struct Heading {
    var package: String
    var version: String
    var distributions: [String]
    var urgency: String?
  }

  private typealias Line = Slice<UnsafeRawBufferPointer>

  private var result = Result()
  private var heading: Heading?
  private var body: [Line] = []
  private var isInStrayBlock = false
  /// Stray text was counted and no heading has come since: it may have been one, and a trailer belongs to it.
  private var mayBeInStrayEntry = false

  /// nil: the file begins with something else than an entry, such as an upstream project's own kind of changelog.
  static func parse(_ bytes: [UInt8]) -> Result? {
    bytes.withUnsafeBytes { buffer in
      var parser = ChangelogParser()
      var isFirst = true
      var start = 0
      while start < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[start...])
        let length = memchr(rest.baseAddress!, 0x0A, rest.count).map {
          $0 - UnsafeMutableRawPointer(mutating: rest.baseAddress!)
        }
        var line = buffer[start..<start + (length ?? rest.count)]
        start += (length ?? rest.count) + 1
        while let last = line.last, isBlank(last) { line = line.dropLast() }
        if isFirst, !line.isEmpty {
          guard Self.heading(in: line) != nil else { return nil }
          isFirst = false
        }
        parser.take(line)
      }
      if parser.heading != nil { parser.result.malformedCount += 1 }
      return parser.result
    }
  }

  private mutating func take(_ line: Line) {
    if line.isEmpty {
      isInStrayBlock = false
      if heading != nil { body.append(line) }
    } else if line.starts(with: " --".utf8) {
      takeTrailer(line.dropFirst(3))
    } else if !Self.isBlank(line[line.startIndex]), let next = Self.heading(in: line) {
      if heading != nil { result.malformedCount += 1 }
      heading = next
      body.removeAll(keepingCapacity: true)
      isInStrayBlock = false
      mayBeInStrayEntry = false
    } else if heading != nil {
      body.append(line)
    } else if !isInStrayBlock {
      isInStrayBlock = true
      if !Self.isRemark(line), !mayBeInStrayEntry {
        result.malformedCount += 1
        mayBeInStrayEntry = true
      }
    }
  }

  private mutating func takeTrailer(_ line: Line) {
    defer {
      heading = nil
      mayBeInStrayEntry = false
    }
    guard let heading, let trailer = Self.trailer(in: line) else {
      if !mayBeInStrayEntry { result.malformedCount += 1 }
      return
    }
    result.entries.append(
      ChangelogEntry(
        package: heading.package, version: heading.version, distributions: heading.distributions,
        urgency: heading.urgency, lines: Self.lines(of: body), closedBugs: ClosedBugs.numbers(in: body),
        maintainerName: trailer.name, maintainerMail: trailer.mail, date: trailer.date))
  }

  /// `package (version) distribution…; key=value, …`
  private static func heading(in line: Line) -> Heading? {
    guard let semicolon = line.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    var words = line[..<semicolon].split(whereSeparator: isBlank)
    guard words.count >= 3 else { return nil }
    let package = words.removeFirst()
    let version = words.removeFirst()
    guard isAlphanumeric(package[package.startIndex]), package.allSatisfy(isNameByte),
      version.count > 2, version.first == UInt8(ascii: "("), version.last == UInt8(ascii: ")"),
      words.allSatisfy({ $0.allSatisfy(isNameByte) })
    else { return nil }
    var urgency: String?
    for pair in line[(semicolon + 1)...].split(separator: UInt8(ascii: ",")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2, text(trimmed(halves[0])).lowercased() == "urgency" else { continue }
      // Some say why behind the word: `urgency=high (security)`.
      urgency = trimmed(halves[1]).split(whereSeparator: isBlank).first.map { text($0).lowercased() }
    }
    return Heading(
      package: text(package), version: text(version.dropFirst().dropLast()), distributions: words.map(text),
      urgency: urgency)
  }

  /// `name <mail>  date`, what follows the two dashes.
  private static func trailer(in line: Line) -> (name: String, mail: String, date: Int64)? {
    guard let open = line.firstIndex(of: UInt8(ascii: "<")),
      let close = line[open...].firstIndex(of: UInt8(ascii: ">")),
      let date = MailDate.milliseconds(of: line[(close + 1)...])
    else { return nil }
    return (text(trimmed(line[..<open])), text(trimmed(line[(open + 1)..<close])), date)
  }

  private static func lines(of body: [Line]) -> [String] {
    var kept = body[...]
    while kept.first?.isEmpty == true { kept = kept.dropFirst() }
    while kept.last?.isEmpty == true { kept = kept.dropLast() }
    let indentation = kept.filter { !$0.isEmpty }.map { $0.prefix(while: isBlank).count }.min() ?? 0
    return kept.map { text($0.dropFirst(indentation)) }
  }

  /// Editor settings and version-control keywords at the end of a file say nothing about the package.
  private static func isRemark(_ line: Line) -> Bool {
    let text = text(line).lowercased()
    return ["local variables:", ";; local variables:", "vim:", "$", "#", "/*", "old changelog:"].contains(
      where: text.hasPrefix)
  }

  /// UTF-8, or else what it was before UTF-8: Latin-1, which no byte sequence violates.
  private static func text(_ bytes: Line) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    var text = String.UnicodeScalarView()
    for byte in bytes { text.append(Unicode.Scalar(byte)) }
    return String(text)
  }

  private static func trimmed(_ bytes: Line) -> Line {
    var rest = bytes
    while let first = rest.first, isBlank(first) { rest = rest.dropFirst() }
    while let last = rest.last, isBlank(last) { rest = rest.dropLast() }
    return rest
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "~")
  }
}
