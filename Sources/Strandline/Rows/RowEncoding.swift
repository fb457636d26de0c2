internal import Glibc
@_spi(Engine) internal import StrandlineLog

// HOT PATH: once per row written. Evidence: Docs/Benchmarks.md, "load.1M"; no allocation but the buffer's growth unless cells are nested.

// One row. Little-endian.
//
//        +-------+------+-----------+-------+----------+- - - -+
//        | count | form | numbers   | types | ends     | bodies|
//        | varint| u8   | n × 1 | 2 | n × 1 | n × 1|2|4|       |
//        +-------+------+-----------+-------+----------+- - - -+
//
//   count    varint, columns, at most 4,096
//   form     bit 0: column numbers take two bytes · bits 1, 2: an end takes 1, 2 or 4 bytes · other bits zero
//   numbers  of the columns, strictly ascending
//   types    ValueKind
//   ends     of each body, counted from the first body; the last is the length of all
//   bodies   null, false, true: nothing · int, timestamp: two's complement in the fewest bytes, 0 to 8 · double: its eight bytes ·
//            decimal, string: UTF-8 · bytes · uuid: sixteen bytes as printed · array, object: NestedEncoding
//
// Every row has exactly one encoding: widths are the smallest that do, and what reads it refuses any other.
// Read by StoredRow. Pinned by RowEncodingTests.
enum RowEncoding {
  /// Appends the encoding of the cells, which come in strictly ascending order of their columns.
  ///
  /// - Throws: ``StoreError/limitExceeded(_:)`` (`columnCount`, `recordByteCount`, `nestingDepth`), or
  ///   ``StoreError/coding(type:path:reason:)`` for a column that comes twice or out of order; with nothing appended.
  static func encode(_ cells: [(column: UInt16, value: Value)], into bytes: inout [UInt8]) throws(StoreError) {
    guard cells.count <= StoreLimits.columnCountMax else {
      throw .limitExceeded(name: "columnCount", value: cells.count, maximum: StoreLimits.columnCountMax)
    }
    var nested = NestedBodies()
    var bodyByteCount = 0
    for index in cells.indices {
      guard index == 0 || cells[index - 1].column < cells[index].column else {
        throw .coding(type: "Row", path: "column \(cells[index].column)", reason: "it comes twice or out of order")
      }
      bodyByteCount &+= try byteCount(of: cells[index].value, nested: &nested)
      // In each round, so that the sum cannot overflow.
      guard bodyByteCount <= StoreLimits.recordByteCountMax else {
        throw .limitExceeded(name: "recordByteCount", value: bodyByteCount, maximum: StoreLimits.recordByteCountMax)
      }
    }
    let form = RowForm(lastColumn: cells.last?.column ?? 0, bodyByteCount: bodyByteCount)
    let countByteCount = Varint.byteCount(UInt64(cells.count))
    let bodiesAt = countByteCount + 1 + cells.count * form.byteCountPerColumn
    let byteCount = bodiesAt + bodyByteCount
    bytes.append(addingCapacity: byteCount) { output in
      output.withUnsafeMutableBufferPointer { room, initializedCount in
        let row = UnsafeMutableRawPointer(room.baseAddress.unsafelyUnwrapped)
        write(cells, form: form, bodiesAt: bodiesAt, to: row, nested: &nested)
        initializedCount += byteCount
      }
    }
  }

  private static func write(
    _ cells: [(column: UInt16, value: Value)], form: RowForm, bodiesAt: Int, to row: UnsafeMutableRawPointer,
    nested: inout NestedBodies
  ) {
    let countByteCount = Varint.byteCount(UInt64(cells.count))
    _ = Varint.write(UInt64(cells.count), to: row)
    row.storeBytes(of: form.rawValue, toByteOffset: countByteCount, as: UInt8.self)
    let numbers = row + countByteCount + 1
    let types = numbers + cells.count << form.numberShift
    let ends = types + cells.count
    let bodies = row + bodiesAt
    var end = 0
    for index in cells.indices {
      let column = cells[index].column
      if form.numberShift == 0 {
        numbers.storeBytes(of: UInt8(truncatingIfNeeded: column), toByteOffset: index, as: UInt8.self)
      } else {
        numbers.storeBytes(of: column.littleEndian, toByteOffset: 2 &* index, as: UInt16.self)
      }
      let (kind, byteCount) = write(cells[index].value, to: bodies + end, nested: &nested)
      types.storeBytes(of: kind.rawValue, toByteOffset: index, as: UInt8.self)
      end &+= byteCount
      switch form.endShift {
      case 0: ends.storeBytes(of: UInt8(truncatingIfNeeded: end), toByteOffset: index, as: UInt8.self)
      case 1:
        ends.storeBytes(of: UInt16(truncatingIfNeeded: end).littleEndian, toByteOffset: 2 &* index, as: UInt16.self)
      default:
        ends.storeBytes(of: UInt32(truncatingIfNeeded: end).littleEndian, toByteOffset: 4 &* index, as: UInt32.self)
      }
    }
  }

  /// Appends the body of one cell and tells its kind.
  ///
  /// - Throws: as ``encode(_:into:)``, with nothing appended.
  static func appendBody(_ value: Value, to bytes: inout [UInt8]) throws(StoreError) -> ValueKind {
    var nested = NestedBodies()
    let byteCount = try byteCount(of: value, nested: &nested)
    bytes.append(addingCapacity: byteCount) { output in
      output.withUnsafeMutableBufferPointer { room, initializedCount in
        guard let base = room.baseAddress else { return }
        initializedCount += write(value, to: UnsafeMutableRawPointer(base), nested: &nested).byteCount
      }
    }
    return ValueKind(of: value)
  }

  /// Bodies of arrays and objects, made in the first pass and copied in the second.
  private struct NestedBodies {
    var bytes: [UInt8] = []
    var ends: [Int] = []
    var copiedCount = 0
  }

  @inline(__always)
  private static func byteCount(of value: Value, nested: inout NestedBodies) throws(StoreError) -> Int {
    switch value {
    case .null, .bool: return 0
    case .int(let number), .timestamp(let number): return ShortInteger.byteCount(number)
    case .double: return 8
    case .uuid: return 16
    case .decimal(let text), .string(let text): return text.utf8.count
    case .bytes(let bytes): return bytes.count
    case .array, .object:
      let start = nested.bytes.count
      try NestedEncoding.appendBody(value, to: &nested.bytes)
      nested.ends.append(nested.bytes.count)
      return nested.bytes.count - start
    }
  }

  @inline(__always)
  private static func write(
    _ value: Value, to body: UnsafeMutableRawPointer, nested: inout NestedBodies
  ) -> (ValueKind, byteCount: Int) {
    switch value {
    case .null: return (.null, 0)
    case .bool(let flag): return (flag ? .true : .false, 0)
    case .int(let number): return (.int, ShortInteger.write(number, to: body))
    case .timestamp(let number): return (.timestamp, ShortInteger.write(number, to: body))
    case .double(let number):
      body.storeBytes(of: number.bitPattern.littleEndian, as: UInt64.self)
      return (.double, 8)
    case .uuid(let uuid):
      body.storeBytes(of: uuid.high.bigEndian, as: UInt64.self)
      body.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
      return (.uuid, 16)
    case .decimal(let text): return (.decimal, write(text, to: body))
    case .string(let text): return (.string, write(text, to: body))
    case .bytes(let bytes):
      bytes.withUnsafeBytes { copy($0, to: body) }
      return (.bytes, bytes.count)
    case .array: return (.array, copyNested(to: body, nested: &nested))
    case .object: return (.object, copyNested(to: body, nested: &nested))
    }
  }

  @inline(__always)
  private static func write(_ text: String, to body: UnsafeMutableRawPointer) -> Int {
    text.utf8Span.span.withUnsafeBytes { source in
      copy(source, to: body)
      return source.count
    }
  }

  @inline(__always)
  private static func copy(_ source: UnsafeRawBufferPointer, to body: UnsafeMutableRawPointer) {
    if let address = source.baseAddress, source.count > 0 { body.copyMemory(from: address, byteCount: source.count) }
  }

  private static func copyNested(to body: UnsafeMutableRawPointer, nested: inout NestedBodies) -> Int {
    let start = nested.copiedCount == 0 ? 0 : nested.ends[nested.copiedCount - 1]
    let end = nested.ends[nested.copiedCount]
    nested.copiedCount += 1
    nested.bytes.withUnsafeBytes { copy($0.slice(start, end - start), to: body) }
    return end - start
  }
}

extension StoreError {
  static func limitExceeded(name: String, value: Int, maximum: Int) -> StoreError {
    .limitExceeded(StoreLimit(name: name, value: UInt64(value), maximum: UInt64(maximum)))
  }
}
