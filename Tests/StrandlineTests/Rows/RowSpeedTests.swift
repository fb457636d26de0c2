import StrandlineTestSupport
import Testing

@testable import Strandline

/// What a row costs, printed. The bound is a hundred times what was measured: it tells a
/// broken hot path from a busy machine.
struct RowSpeedTests {
  static let cells: [(column: UInt16, value: Value)] = [
    (0, .uuid(UUIDBytes(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF))),
    (1, "works on a plane, and in a tunnel"), (2, .int(1000)),
    (3, true), (4, 0.5), (5, .timestamp(1_796_037_639_000)),
  ]
  static let count = 100_000

  @Test func `a row of six columns is encoded in nanoseconds`() throws {
    var bytes: [UInt8] = []
    let time = try ContinuousClock().measure {
      for _ in 0..<Self.count {
        bytes.removeAll(keepingCapacity: true)
        try RowEncoding.encode(Self.cells, into: &bytes)
      }
    }
    report("encode", time)
  }

  @Test(arguments: [UInt16(1), 2, 5])
  func `one column of six is read in nanoseconds`(column: UInt16) throws {
    let bytes = try RowEncodingTests.encoded(Self.cells)
    var sum = 0
    let time = try ContinuousClock().measure {
      try bytes.withUnsafeBytes { bytes in
        for _ in 0..<Self.count {
          switch try StoredRow(bytes).value(of: column) {
          case .string(let text): sum &+= text.utf8.count
          case .int(let number), .timestamp(let number): sum &+= Int(number)
          default: Issue.record("another value")
          }
        }
      }
    }
    #expect(sum != 0)
    report("column \(column)", time)
  }

  @Test func `a row is opened and a cell found in nanoseconds`() throws {
    let bytes = try RowEncodingTests.encoded(Self.cells)
    var sum = 0
    let time = try ContinuousClock().measure {
      try bytes.withUnsafeBytes { bytes in
        for _ in 0..<Self.count { sum &+= try StoredRow(bytes).cell(of: 1)?.body.count ?? 0 }
      }
    }
    #expect(sum == 33 * Self.count)
    report("cell", time)
  }

  private func report(_ name: String, _ time: Duration) {
    let nanoseconds = Double(time.components.attoseconds) / 1e9 / Double(Self.count)
    print("RowSpeed \(name): \(nanoseconds.rounded()) ns")
    #if !DEBUG
      #expect(nanoseconds < 20_000)
    #endif
  }
}
