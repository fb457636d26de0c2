@_spi(Engine) internal import StrandlineLog

/// One cell of a ``StoredRow``, not decoded yet. It does not own its bytes.
struct StoredCell {
  let kind: ValueKind
  /// As RowEncoding lays it out; its length fits the kind.
  let body: UnsafeRawBufferPointer

  /// Nil if the bytes are no value of the kind.
  @inline(__always)
  var value: Value? {
    switch kind {
    case .null: .null
    case .false: .bool(false)
    case .true: .bool(true)
    case .int: ShortInteger.read(body).map { .int($0) }
    case .timestamp: ShortInteger.read(body).map { .timestamp($0) }
    case .double: .double(Double(bitPattern: body.u64(0)))
    case .uuid: .uuid(UUIDBytes(high: body.u64(0).byteSwapped, low: body.u64(8).byteSwapped))
    case .decimal: String(validatedUTF8: body).map { .decimal($0) }
    case .string: String(validatedUTF8: body).map { .string($0) }
    case .bytes: .bytes(Array(body))
    case .array, .object: NestedEncoding.decode(kind, body: body)
    }
  }
}
