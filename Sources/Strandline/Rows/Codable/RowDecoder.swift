/// Makes values of the application's own types out of rows; the other way round from ``RowEncoder``.
///
/// Columns that the type does not name are left aside. A property that is not optional needs a cell that is there and not null. Numbers fit
/// if nothing of them is lost, but for fractions read as binary ones; text fits where ``Value/converted(to:)`` makes the value of it,
/// and a `String` takes the text of decimals, UUIDs, timestamps and bytes.
public struct RowDecoder: Sendable {
  public init() {}

  /// - Throws: ``StoreError/coding(type:path:reason:)``.
  public func decode<Model: Decodable>(_ type: Model.Type, from row: Row) throws(StoreError) -> Model {
    do { return try Model(from: TopDecoder(row: row)) } catch { throw .coding(error, type: "\(type)") }
  }
}

private struct TopDecoder: Decoder {
  let row: Row
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(MemberDecoder<Key>(members: .row(row), codingPath: []))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refused }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { throw refused }

  private var refused: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "a row is made of named properties, and this type has none"))
  }
}
