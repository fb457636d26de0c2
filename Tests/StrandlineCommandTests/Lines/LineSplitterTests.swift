import Glibc
import StrandlineTestSupport
import Testing

@testable import strandline

struct LineSplitterTests {
  /// Splits `bytes`, written into a pipe in pieces of at most `pieceByteCount`.
  private func split(_ bytes: [UInt8], pieceByteCount: Int = 4096) throws -> [[UInt8]] {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    var splitter = LineSplitter()
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieceByteCount))
      rest = rest.dropFirst(piece.count)
      #expect(write(ends[1], piece, piece.count) == piece.count)
      #expect(splitter.read(from: ends[0]) == .bytes)
      while let line = splitter.takeLine() { splitter.withLine(line) { lines.append(Array($0)) } }
    }
    close(ends[1])
    #expect(splitter.read(from: ends[0]) == .end)
    if let line = splitter.takeLastLine() { splitter.withLine(line) { lines.append(Array($0)) } }
    #expect(splitter.takeLastLine() == nil)
    return lines
  }

  @Test(arguments: [
    ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n\na\n\n", ["", "", "a", ""]),
    ("a\r\nb\r\n", ["a\r", "b\r"]), ("\u{0}\n\u{0}", ["\u{0}", "\u{0}"]),
  ])
  func `lines end with a line feed and the last one with the stream`(text: String, lines: [String]) throws {
    for pieceByteCount in [1, 2, 4096] {
      #expect(try split(Array(text.utf8), pieceByteCount: pieceByteCount) == lines.map { Array($0.utf8) })
    }
  }

  @Test(arguments: [UInt64(1), 7, 42])
  func `random bytes are split as a dull splitter splits them`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    while bytes.count < 3 << 20 {
      // Short lines, and now and then one that is longer than the buffer.
      let count = Int.random(in: 0..<100, using: &random) == 0 ? 700_000 : Int.random(in: 0..<2000, using: &random)
      bytes += random.bytes(count)
      bytes.append(0x0A)
    }
    bytes.removeLast()
    let expected = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
    #expect(try split(bytes, pieceByteCount: 60_000) == expected)
  }

  @Test func `a descriptor that cannot be read says why`() {
    var splitter = LineSplitter()
    #expect(splitter.read(from: -1) == .failed(errno: EBADF))
    let directory = open("/", O_RDONLY | O_CLOEXEC)
    #expect(splitter.read(from: directory) == .failed(errno: EISDIR))
    close(directory)
  }
}
