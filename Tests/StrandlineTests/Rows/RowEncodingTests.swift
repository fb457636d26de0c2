import StrandlineTestSupport
import Testing

@testable import Strandline

struct RowEncodingTests {
  static func encoded(_ cells: [(column: UInt16, value: Value)]) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    try RowEncoding.encode(cells, into: &bytes)
    return bytes
  }

  /// As it would come from disk: at an odd address, with nothing readable promised behind it.
  static func withRow<Result>(_ bytes: [UInt8], _ body: (StoredRow) throws(StoreError) -> Result) throws(StoreError)
    -> Result
  {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
    defer { memory.deallocate() }
    let row = UnsafeMutableRawBufferPointer(rebasing: memory[1...])
    row.copyBytes(from: bytes)
    return try body(StoredRow(UnsafeRawBufferPointer(row)))
  }

  static func cells(_ bytes: [UInt8]) throws(StoreError) -> [(column: UInt16, value: Value)] {
    try withRow(bytes) { (row) throws(StoreError) in try row.cells() }
  }

  @Test func `six small columns take twenty bytes more than their contents`() throws {
    let cells: [(column: UInt16, value: Value)] = [
      (0, .uuid(UUIDBytes(high: 1, low: 2))), (1, "title"), (2, .int(1000)), (3, true), (4, 0.5),
      (5, .timestamp(1_796_037_639_000)),
    ]
    #expect(try Self.encoded(cells).count == 20 + 16 + 5 + 2 + 0 + 8 + 6)
  }

  @Test func `the bytes are these`() throws {
    let bytes = try Self.encoded([
      (1, .null), (2, true), (3, .int(-2)), (4, .string("ab")), (300, .object(["k": [1, "x", .double(1)]])),
    ])
    let numbers: [UInt8] = [1, 0, 2, 0, 3, 0, 4, 0, 0x2C, 1]
    let kinds: [UInt8] = [0, 2, 3, 6, 11]
    let ends: [UInt8] = [0, 0, 1, 3, 22]
    // {"k": [1, "x", 1.0]}
    let object: [UInt8] = [1, 1, 0x6B, 10, 3, 3, 2, 6, 1, 0x78, 5, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]
    #expect(bytes == [5, 1] + numbers + kinds + ends + [0xFE, 0x61, 0x62] + object)
    #expect(try Self.encoded([]) == [0, 0])
  }

  @Test(arguments: [Int64(0), 1, -1, 127, 128, -128, -129, 32767, -32768, 32768, .max, .min, 1 << 40])
  func `an integer takes the bytes that it needs`(number: Int64) throws {
    let bytes = try Self.encoded([(0, .int(number))])
    let needed = number == 0 ? 0 : (1...8).first { number >> Int64(8 * $0 - 1) == number >> 63 } ?? 8
    #expect(bytes.count == 5 + needed)
    #expect(try Self.cells(bytes).map(\.value) == [.int(number)])
  }

  @Test(arguments: Array(UInt64(1)...20))
  func `random rows come back, whole and cell by cell, and have one encoding`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<200 {
      let cells = random.cells()
      let bytes = try Self.encoded(cells)
      try Self.withRow(bytes) { (row) throws(StoreError) in
        #expect(row.columnCount == cells.count, "seed \(seed)")
        let decoded = try row.cells()
        #expect(
          decoded.map(\.column) == cells.map(\.column) && decoded.map(\.value) == cells.map(\.value), "seed \(seed)")
        let model = Dictionary(uniqueKeysWithValues: cells.map { ($0.column, $0.value) })
        for column in Set(cells.map(\.column) + (0..<50).map { _ in UInt16(random.int(5000)) } + [0, .max]) {
          #expect(try row.value(of: column) == model[column], "column \(column), seed \(seed)")
        }
        #expect(try Self.encoded(decoded) == bytes)
      }
    }
  }

  @Test func `a row appends to what is there`() throws {
    var bytes: [UInt8] = [9, 9]
    try RowEncoding.encode([(0, 1)], into: &bytes)
    #expect(try bytes == [9, 9] + Self.encoded([(0, 1)]))
  }

  @Test(arguments: [255, 256, 65_535, 65_536, 1 << 20])
  func `ends grow with the bodies`(byteCount: Int) throws {
    let text = String(repeating: "x", count: byteCount)
    let bytes = try Self.encoded([(0, .string(text)), (1, 7)])
    #expect(bytes.count == 1 + 1 + 4 + 2 * (byteCount < 255 ? 1 : byteCount < 65_535 ? 2 : 4) + byteCount + 1)
    #expect(try Self.cells(bytes).map(\.value) == [.string(text), 7])
  }

  @Test func `limits are errors that append nothing`() throws {
    func limit(_ cells: [(column: UInt16, value: Value)]) -> String? {
      var bytes: [UInt8] = [1]
      do { try RowEncoding.encode(cells, into: &bytes) } catch {
        #expect(bytes == [1])
        if case .limitExceeded(let limit) = error { return limit.name }
      }
      return nil
    }
    func nested(_ depth: Int) -> Value {
      (1..<depth).reduce([]) { value, index in index % 2 == 0 ? [value] : ["a": value] }
    }
    #expect(limit((0..<4096).map { (UInt16($0), .null) }) == nil)
    #expect(limit((0...4096).map { (UInt16($0), .null) }) == "columnCount")
    let half = Value.bytes(Array(repeating: 1, count: 8 << 20))
    #expect(limit([(0, half), (1, half)]) == nil)
    #expect(limit([(0, half), (1, half), (2, 1)]) == "recordByteCount")
    #expect(limit([(0, [half, half])]) == "recordByteCount")
    #expect(limit([(0, nested(64))]) == nil)
    #expect(limit([(0, nested(65))]) == "nestingDepth")
    // A tree that is small in memory and far larger when written out.
    #expect(limit([(0, (0..<40).reduce("leaf") { value, _ in [value, value] })]) == "recordByteCount")
  }

  @Test func `columns that come twice or out of order are an error`() {
    for columns: [UInt16] in [[1, 1], [2, 1]] {
      #expect(throws: StoreError.self) { try Self.encoded(columns.map { ($0, 1) }) }
    }
  }

  // MARK: Damage

  @Test(arguments: [UInt64(1), 2, 3])
  func `a row with any bit changed or byte cut off is refused or is another row's one encoding`(seed: UInt64) throws {
    var random = RandomValues(seed: seed)
    for _ in 0..<20 {
      let bytes = try Self.encoded(random.cells())
      for bit in 0..<min(bytes.count * 8, 3000) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << (bit % 8)
        check(damaged, "bit \(bit), seed \(seed)")
      }
      for count in 0..<min(bytes.count, 300) {
        check(Array(bytes.prefix(count)), "\(count) bytes, seed \(seed)")
        check(Array(bytes.dropFirst(count + 1)), "from \(count), seed \(seed)")
      }
    }
  }

  @Test(arguments: [UInt64(4), 5])
  func `random bytes are refused or are a row's one encoding`(seed: UInt64) {
    var random = RandomValues(seed: seed)
    for _ in 0..<30_000 {
      var bytes = random.generator.bytes(random.int(60))
      // A likely beginning, so that more than the first check is met.
      if bytes.count > 2, random.int(4) != 0 {
        bytes[0] = UInt8(random.int(5))
        bytes[1] = UInt8(random.int(4))
        for index in 2..<min(bytes.count, 2 + 3 * Int(bytes[0])) { bytes[index] = UInt8((index - 2) * random.int(6)) }
      }
      check(bytes, "seed \(seed)")
    }
  }

  @Test(arguments: [ValueKind.array, .object])
  func `nesting beyond the limit is refused without recursion to the end`(kind: ValueKind) {
    let level: [UInt8] = kind == .array ? [1, 10] : [1, 0, 11]
    let body = Array(repeatElement(level, count: 1_000_000).joined())
    let count = UInt32(body.count)
    let ends = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    let bytes: [UInt8] = [1, 4, 0, kind.rawValue] + ends + body
    #expect(throws: StoreError.self) { try Self.cells(bytes) }
  }

  @Test func `counts that the bytes cannot hold allocate nothing`() {
    for kind in [ValueKind.array, .object] {
      for count: [UInt8] in [
        [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [0xFF, 0xFF, 0xFF, 0x7F], [2],
      ] {
        #expect(throws: StoreError.self) { try Self.cells([1, 0, 0, kind.rawValue, UInt8(count.count)] + count) }
      }
    }
  }

  /// Whatever is not refused with `.undecodable` must be the one encoding of what it says.
  private func check(_ bytes: [UInt8], _ comment: Comment) {
    do throws(StoreError) {
      let cells = try Self.cells(bytes)
      #expect(try Self.encoded(cells) == bytes, comment)
    } catch {
      guard case .undecodable(what: "row", _) = error else {
        Issue.record("\(error), \(comment)")
        return
      }
    }
  }
}
