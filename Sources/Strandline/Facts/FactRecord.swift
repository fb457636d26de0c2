@_spi(Engine) internal import StrandlineLog

// What the store writes into the log. One record of the log is one of these:
//
//   header   0 | cause varint | count varint | count x (length varint, name, length varint, text)      first in each commit
//   put      1 | prefix, 3 bytes big-endian | key length varint | key | value to the end
//   delete   2 | prefix, 3 bytes big-endian | key length varint | key
//
// A commit without a header, and a record of another kind, are not ours: replay refuses them.
enum FactKind {
  static let header: UInt8 = 0
  static let put: UInt8 = 1
  static let delete: UInt8 = 2
}

/// One record of the log as a fact. Non-owning.
enum FactView {
  case header(CommitHeader)
  case put(KeyView, UnsafeRawBufferPointer)
  case delete(KeyView)

  /// Nil for bytes that no version of the format writes.
  @inline(__always)
  static func decode(_ record: UnsafeRawBufferPointer) -> FactView? {
    guard let kind = record.first else { return nil }
    if kind == FactKind.header { return CommitHeader.decode(record).map(FactView.header) }
    guard kind <= FactKind.delete, record.count >= 5 else { return nil }
    let prefix = KeyPrefix(rawValue: UInt32(record[1]) << 16 | UInt32(record[2]) << 8 | UInt32(record[3]))
    var offset = 4
    guard let length = Varint.read(record, at: &offset), length <= UInt64(record.count - offset) else { return nil }
    let end = offset + Int(length)
    let key = KeyView(prefix: prefix, bytes: UnsafeRawBufferPointer(rebasing: record[offset..<end]))
    if kind == FactKind.put { return .put(key, UnsafeRawBufferPointer(rebasing: record[end...])) }
    return end == record.count ? .delete(key) : nil
  }

  /// Bytes in front of the value.
  @inline(__always)
  static func headByteCount(_ key: KeyView) -> Int {
    4 + Varint.byteCount(UInt64(key.bytes.count)) + key.bytes.count
  }

  /// Writes what stands in front of the value: `key` has it from now on, or for a delete is gone.
  @inline(__always)
  static func writeHead(_ key: KeyView, isDelete: Bool, to target: UnsafeMutableRawPointer) {
    let prefix = key.prefix.rawValue & 0xFF_FFFF | UInt32(isDelete ? FactKind.delete : FactKind.put) << 24
    target.storeBytes(of: prefix.bigEndian, as: UInt32.self)
    let length = Varint.write(UInt64(key.bytes.count), to: target + 4)
    if let bytes = key.bytes.baseAddress { (target + 4 + length).copyMemory(from: bytes, byteCount: key.bytes.count) }
  }

  /// The fact that `key` has `value` from now on.
  static func put(_ key: KeyView, _ value: UnsafeRawBufferPointer) -> [UInt8] {
    let head = headByteCount(key)
    return [UInt8](unsafeUninitializedCapacity: head + value.count) { room, count in
      let record = UnsafeMutableRawBufferPointer(room)
      guard let base = record.baseAddress else { return }
      writeHead(key, isDelete: false, to: base)
      UnsafeMutableRawBufferPointer(rebasing: record[head...]).copyMemory(from: value)
      count = head + value.count
    }
  }
}

/// Cause and metadata of a commit.
struct CommitHeader: Hashable, Sendable {
  var cause: Cause
  /// The application's own words about the commit, sorted by name when written.
  var metadata: [String: String] = [:]

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = [FactKind.header]
    bytes.appendVarint(UInt64(cause.rawValue))
    bytes.appendVarint(UInt64(metadata.count))
    for (name, text) in metadata.sorted(by: { $0.key < $1.key }) {
      bytes.appendText(name)
      bytes.appendText(text)
    }
    return bytes
  }

  static func decode(_ record: UnsafeRawBufferPointer) -> CommitHeader? {
    var offset = 1
    guard let cause = Varint.read(record, at: &offset), let number = UInt32(exactly: cause),
      let count = Varint.read(record, at: &offset), count <= UInt64(record.count)
    else { return nil }
    var metadata: [String: String] = [:]
    for _ in 0..<count {
      guard let name = text(record, at: &offset), let text = text(record, at: &offset) else { return nil }
      metadata[name] = text
    }
    return offset == record.count ? CommitHeader(cause: Cause(rawValue: number), metadata: metadata) : nil
  }

  private static func text(_ record: UnsafeRawBufferPointer, at offset: inout Int) -> String? {
    guard let length = Varint.read(record, at: &offset), length <= UInt64(record.count - offset) else { return nil }
    defer { offset += Int(length) }
    return String(decoding: record[offset..<offset + Int(length)], as: UTF8.self)
  }
}

extension [UInt8] {
  mutating func appendVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// Length as a varint, then the text's UTF-8.
  mutating func appendText(_ text: String) {
    appendVarint(UInt64(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}
