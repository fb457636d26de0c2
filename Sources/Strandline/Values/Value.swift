/// One cell of a row.
///
/// `decimal` is kept as text so that no digit is lost; `timestamp` counts milliseconds since 1970 in UTC.
///
/// Equality is sameness of kind and content: `.int(2)` and `.double(2)` differ, texts are compared by their UTF-8 bytes without
/// normalisation, and every NaN equals every other. What filters and order mean by *equal* is ``order(_:_:)``.
public enum Value: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Decimal digits with an optional sign and fraction, as written.
  case decimal(String)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case uuid(UUIDBytes)
  case timestamp(Int64)
  case array([Value])
  case object([String: Value])
}

extension Value {
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The column type that holds the value as it is, as messages show it; nil for null.
  public var type: ColumnType? {
    switch self {
    case .null: nil
    case .bool: .bool
    case .int: .int
    case .decimal: .decimal
    case .double: .double
    case .string: .string
    case .bytes: .bytes
    case .uuid: .uuid
    case .timestamp: .timestamp
    case .array: .array
    case .object: .object
    }
  }
}
