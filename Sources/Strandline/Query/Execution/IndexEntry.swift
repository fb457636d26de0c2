/// An index entry's key taken apart.
struct IndexEntry {
  /// The index number and the indexed values, encoded.
  var values: [UInt8]
  /// Of the row.
  var key: [UInt8] = []

  init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try IndexEncoding.readPrimaryKey(of: bytes, into: &key)
    values = Array(Self.values(of: bytes))
  }

  /// What lies in front of the primary key of an entry that has one.
  static func values(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let keyByteCount = Int(bytes[bytes.count - 2] & 0x7F) << 8 | Int(bytes[bytes.count - 1])
    return UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 2 - keyByteCount)])
  }
}
