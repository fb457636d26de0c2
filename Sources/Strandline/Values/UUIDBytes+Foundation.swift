public import FoundationEssentials

extension UUIDBytes {
  public init(_ uuid: UUID) {
    self = withUnsafeBytes(of: uuid.uuid) { bytes in
      UUIDBytes(
        high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
  }
}

extension UUID {
  public init(_ bytes: UUIDBytes) {
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &uuid) { target in
      target.storeBytes(of: bytes.high.bigEndian, toByteOffset: 0, as: UInt64.self)
      target.storeBytes(of: bytes.low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    self.init(uuid: uuid)
  }
}

extension Value {
  public static func uuid(_ uuid: UUID) -> Value { .uuid(UUIDBytes(uuid)) }
}
