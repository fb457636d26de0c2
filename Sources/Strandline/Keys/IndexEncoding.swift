@_spi(Engine) internal import StrandlineLog

// An index entry: its key behind the prefix (family `.index`, table). Its value is empty.
//
//        +--------------+----------- - - -+-------------+------------------+
//        | index number | values          | primary key | key length       |
//        | u16 BE       | each at most 256|             | u16 BE, top bit  |
//        +--------------+----------- - - -+-------------+------------------+
//
//   values         ValueRank byte | nothing for null, false, true · NumberEncoding · timestamp as integer · uuid · text and bytes ended ·
//                  array: members, 00 · object: (01, name ended, value) …, 00         (OrderedBytes)
//                  A longer encoding is cut at 256 bytes. Of two values the smaller never has the larger bytes; equal bytes mean equal
//                  values, or cut ones.
//   primary key    KeyEncoding; with text or bytes in it, each 00 as 00 FF and 00 at the end, so that entries of equal values are in
//                  the order of their primary keys. The top bit of the length says which.
//
// So a range of an index answers what was asked for and, where values were cut, possibly more: filters are checked on the row.
enum IndexEncoding {
  /// Bytes that one value takes at most.
  static let valueByteCountMax = 256

  /// Whether no value of the type is ever cut, so that an index is in the order of its values.
  static func keepsOrder(_ type: ColumnType) -> Bool {
    switch type {
    case .bool, .int, .double, .uuid, .timestamp: true
    case .decimal, .string, .bytes, .array, .object, .any: false
    }
  }

  /// Appends the encoding of one value.
  ///
  /// - Returns: False: it was cut.
  @discardableResult
  static func append(_ value: Value, to bytes: inout [UInt8]) -> Bool {
    let end = bytes.count + valueByteCountMax
    append(value, endingAt: end, to: &bytes)
    guard bytes.count > end else { return true }
    bytes.removeLast(bytes.count - end)
    return false
  }

  /// Stops somewhere behind `end`.
  private static func append(_ value: Value, endingAt end: Int, to bytes: inout [UInt8]) {
    guard bytes.count <= end else { return }
    bytes.append(ValueRank(of: value).rawValue)
    switch value {
    case .null, .bool: break
    case .int(let number): NumberEncoding.append(number, to: &bytes)
    case .double(let number): NumberEncoding.append(number, to: &bytes)
    case .decimal(let text): NumberEncoding.append(decimal: text, to: &bytes)
    case .timestamp(let number): OrderedBytes.append(number, to: &bytes)
    case .uuid(let uuid): OrderedBytes.append(uuid, to: &bytes)
    case .string(let text): append(text, endingAt: end, to: &bytes)
    case .bytes(let content): content.withUnsafeBytes { append($0, endingAt: end, to: &bytes) }
    case .array(let values):
      for value in values {
        guard bytes.count <= end else { return }
        append(value, endingAt: end, to: &bytes)
      }
      bytes.append(0)
    case .object(let members):
      for name in Value.orderedNames(members) {
        guard bytes.count <= end else { return }
        bytes.append(1)
        append(name, endingAt: end, to: &bytes)
        append(members[name] ?? .null, endingAt: end, to: &bytes)
      }
      bytes.append(0)
    }
  }

  private static func append(_ text: String, endingAt end: Int, to bytes: inout [UInt8]) {
    let units = text.utf8Span.span
    units.withUnsafeBytes { append($0, endingAt: end, to: &bytes) }
  }

  private static func append(_ content: UnsafeRawBufferPointer, endingAt end: Int, to bytes: inout [UInt8]) {
    let room = max(0, end + 1 - bytes.count)
    OrderedBytes.appendEnded(content.count <= room ? content : content.slice(0, room), to: &bytes)
  }

  // MARK: Entries

  private static let escapedBit: UInt16 = 1 << 15

  /// Appends the key of an entry.
  ///
  /// - Throws: ``StoreError/limitExceeded(_:)`` (`keyByteCount`) if values and primary key together are too long. What was appended
  ///   before that is to be thrown away.
  static func appendEntry(
    index: UInt16, values: [Value], primaryKey: UnsafeRawBufferPointer, isFixedWidth: Bool, to bytes: inout [UInt8]
  ) throws(StoreError) {
    let start = bytes.count
    appendNumber(index, to: &bytes)
    for value in values { append(value, to: &bytes) }
    let keyStart = bytes.count
    if isFixedWidth {
      bytes.append(contentsOf: primaryKey)
    } else {
      OrderedBytes.appendEscaped(primaryKey, to: &bytes)
      bytes.append(0)
    }
    let byteCount = bytes.count - start + 2
    guard byteCount <= StoreLimits.keyByteCountMax else {
      throw .limitExceeded(name: "keyByteCount", value: byteCount, maximum: StoreLimits.keyByteCountMax)
    }
    appendNumber(UInt16(bytes.count - keyStart) | (isFixedWidth ? 0 : escapedBit), to: &bytes)
  }

  /// The primary key of an entry that holds it as it is; nil if it is escaped, or if the bytes are no entry.
  static func primaryKey(of entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let (stored, isEscaped) = storedKey(of: entry), !isEscaped else { return nil }
    return stored
  }

  /// Puts the primary key of any entry into `key`, in place of what was there.
  ///
  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  static func readPrimaryKey(of entry: UnsafeRawBufferPointer, into key: inout [UInt8]) throws(StoreError) {
    key.removeAll(keepingCapacity: true)
    guard let (stored, isEscaped) = storedKey(of: entry) else {
      throw .undecodable(what: "index entry", reason: "it does not end in a primary key and its length")
    }
    if !isEscaped {
      key.append(contentsOf: stored)
      return
    }
    var place = 0
    while place < stored.count, stored[place] != 0 || (place + 1 < stored.count && stored[place + 1] == 0xFF) {
      key.append(stored[place])
      place += stored[place] == 0 ? 2 : 1
    }
    guard place == stored.count - 1 else {
      throw .undecodable(what: "index entry", reason: "its primary key does not end where it should")
    }
  }

  private static func storedKey(of entry: UnsafeRawBufferPointer) -> (UnsafeRawBufferPointer, isEscaped: Bool)? {
    guard entry.count >= 4 else { return nil }
    let number = entry.u16(entry.count - 2).byteSwapped
    let byteCount = Int(number & ~escapedBit)
    guard byteCount <= entry.count - 4 else { return nil }
    return (entry.slice(entry.count - 2 - byteCount, byteCount), number & escapedBit != 0)
  }

  private static func appendNumber(_ number: UInt16, to bytes: inout [UInt8]) {
    bytes.append(UInt8(number >> 8))
    bytes.append(UInt8(truncatingIfNeeded: number))
  }

  // MARK: Ranges

  /// One end of a range of values.
  enum Bound: Hashable, Sendable {
    case unbounded
    case including(Value)
    case excluding(Value)
  }

  /// Where the entries lie whose first values are `equal` and whose next value is between the bounds; more where values are cut.
  ///
  /// Bounds are of all values in their order: nulls come first, so `.excluding(.null)` below leaves them out.
  ///
  /// - Returns: The upper end is left out; nil is the end of the table's entries.
  static func range(
    index: UInt16, equal: [Value], from lower: Bound = .unbounded, to upper: Bound = .unbounded
  ) -> (lower: [UInt8], upper: [UInt8]?) {
    var prefix: [UInt8] = []
    appendNumber(index, to: &prefix)
    for value in equal { append(value, to: &prefix) }
    func encoded(_ value: Value) -> (bytes: [UInt8], isWhole: Bool) {
      var bytes = prefix
      let isWhole = append(value, to: &bytes)
      return (bytes, isWhole)
    }
    let first: [UInt8]?
    switch lower {
    case .unbounded: first = prefix
    case .including(let value): first = encoded(value).bytes
    case .excluding(let value):
      let (bytes, isWhole) = encoded(value)
      first = isWhole ? OrderedBytes.successor(of: bytes) : bytes
    }
    let end: [UInt8]?
    switch upper {
    case .unbounded: end = OrderedBytes.successor(of: prefix)
    case .including(let value): end = OrderedBytes.successor(of: encoded(value).bytes)
    case .excluding(let value):
      let (bytes, isWhole) = encoded(value)
      end = isWhole ? bytes : OrderedBytes.successor(of: bytes)
    }
    // Rank bytes are below FF, so what begins with one has a successor.
    return (first ?? prefix, end)
  }
}
