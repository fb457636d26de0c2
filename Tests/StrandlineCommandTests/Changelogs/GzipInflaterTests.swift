import StrandlineTestSupport
import Testing

@testable import strandline

struct GzipInflaterTests {
  private static let text = [UInt8](String(repeating: "tide and strandline, ", count: 20_000).utf8)

  @Test(arguments: [[], Array("short".utf8), text, [UInt8](repeating: 0, count: 1 << 17)])
  func `what gzip packed comes out again`(bytes: [UInt8]) throws {
    #expect(try GzipInflater.inflate(gzip(bytes), limit: 1 << 20) == bytes)
  }

  @Test func `members follow each other and what is behind them is passed over`() throws {
    let members = gzip(Array("one ".utf8)) + gzip(Array("two".utf8))
    #expect(try GzipInflater.inflate(members, limit: 100) == Array("one two".utf8))
    #expect(try GzipInflater.inflate(members + [0, 0, 0], limit: 100) == Array("one two".utf8))
  }

  @Test func `a file that ends early is truncated at whatever byte`() {
    let whole = gzip(Array("a text that is long enough to be interesting".utf8))
    for count in 2..<whole.count {
      #expect(throws: GzipInflater.Problem.truncated) {
        try GzipInflater.inflate(Array(whole.prefix(count)), limit: 1000)
      }
    }
  }

  @Test func `contents above the limit are refused before they fill memory`() throws {
    let bomb = gzip([UInt8](repeating: 0, count: 8 << 20))
    #expect(throws: GzipInflater.Problem.tooLarge(limit: 1 << 20)) { try GzipInflater.inflate(bomb, limit: 1 << 20) }
    #expect(try GzipInflater.inflate(bomb, limit: 8 << 20).count == 8 << 20)
  }

  @Test func `what is not gzip is said to be not gzip`() {
    for bytes in [[], [0x1F], Array("plain".utf8)] {
      #expect(throws: GzipInflater.Problem.notGzip) { try GzipInflater.inflate(bytes, limit: 10) }
    }
  }

  @Test(arguments: [UInt64(1), 7, 42])
  func `a flipped bit gives an error or the same bytes and never more than the limit`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let packed = gzip(Array(Self.text.prefix(3000)) + random.bytes(500))
    for _ in 0..<500 {
      var damaged = packed
      damaged[Int.random(in: 0..<damaged.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      if let bytes = try? GzipInflater.inflate(damaged, limit: 10_000) { #expect(bytes.count <= 10_000) }
    }
  }
}
