@_spi(Engine) internal import StrandlineLog

/// What the store knows of a table: numbers for the table, its columns and its indexes, never given to anything else.
struct TableDefinition: Hashable, Sendable {
  var number: UInt16
  var name: String
  var key: [KeyColumn]
  /// Key columns among them, dropped ones too; by number.
  var columns: [ColumnDefinition]
  /// Dropped ones too; by number.
  var indexes: [IndexDefinition]
  var allowsOtherColumns: Bool
  var isDropped: Bool

  /// Of the fact that holds the definition.
  var storeKey: StoreKey {
    StoreKey(KeyPrefix(.catalog), [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)])
  }
}

struct ColumnDefinition: Hashable, Sendable {
  var number: UInt16
  var name: String
  var type: ColumnType
  var isNullable: Bool
  var isDropped = false
}

struct IndexDefinition: Hashable, Sendable {
  enum State: UInt8, Sendable {
    /// Writers keep it, readers do not use it: rows of before are still missing.
    case building = 0
    case ready = 1
    case dropped = 2
  }

  var number: UInt16
  var name: String
  /// Numbers of columns, the most significant first.
  var columns: [UInt16]
  var state: State
}

// .catalog     key = table number u16 big-endian
//              value = 1 | flags u8: bit 0 allows other columns, bit 1 dropped | name
//                    | count | (name, key type u8) …  | count | (number varint, name, type u8, flags u8: bit 0 nullable, bit 1 dropped) …
//                    | count | (number varint, name, state u8, count, column number varint …) …
//              names: length varint, UTF-8; counts: varint
extension TableDefinition {
  private static let version: UInt8 = 1
  /// The numbers of types in the format are their places here; added to, never moved.
  private static let keyTypes: [KeyType] = [.int, .string, .uuid, .bytes, .timestamp]
  private static let columnTypes: [ColumnType] = [
    .bool, .int, .decimal, .double, .string, .bytes, .uuid, .timestamp, .array, .object, .any,
  ]

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = [Self.version, (allowsOtherColumns ? 1 : 0) | (isDropped ? 2 : 0)]
    bytes.appendText(name)
    bytes.appendVarint(UInt64(key.count))
    for column in key {
      bytes.appendText(column.name)
      bytes.append(UInt8(Self.keyTypes.firstIndex(of: column.type) ?? 0))
    }
    bytes.appendVarint(UInt64(columns.count))
    for column in columns {
      bytes.appendVarint(UInt64(column.number))
      bytes.appendText(column.name)
      bytes.append(UInt8(Self.columnTypes.firstIndex(of: column.type) ?? 0))
      bytes.append((column.isNullable ? 1 : 0) | (column.isDropped ? 2 : 0))
    }
    bytes.appendVarint(UInt64(indexes.count))
    for index in indexes {
      bytes.appendVarint(UInt64(index.number))
      bytes.appendText(index.name)
      bytes.append(index.state.rawValue)
      bytes.appendVarint(UInt64(index.columns.count))
      for column in index.columns { bytes.appendVarint(UInt64(column)) }
    }
    return bytes
  }

  /// - Throws: ``StoreError/undecodable(what:reason:)``.
  static func decode(_ bytes: UnsafeRawBufferPointer, number: UInt16) throws(StoreError) -> TableDefinition {
    var reader = Reader(bytes: bytes)
    guard let definition = read(&reader, number), reader.offset == bytes.count, definition.isSound else {
      throw .undecodable(
        what: "the definition of table \(number)", reason: "its bytes are of no form this version knows")
    }
    return definition
  }

  /// Whether numbers are places, no live name comes twice, and keys and indexes are of columns that are there.
  private var isSound: Bool {
    let names = columns.filter { !$0.isDropped }.map { ExactName($0.name) }
    let known = Set(names)
    return columns.count <= StoreLimits.columnCountMax && columns.indices.allSatisfy { columns[$0].number == $0 }
      && known.count == names.count && key.allSatisfy { known.contains(ExactName($0.name)) }
      && indexes.indices.allSatisfy { indexes[$0].number == $0 }
      && indexes.allSatisfy { index in index.columns.allSatisfy { Int($0) < columns.count } }
  }

  private static func read(_ reader: inout Reader, _ number: UInt16) -> TableDefinition? {
    guard reader.byte() == version, let flags = reader.byte(), flags <= 3, let name = reader.text(),
      let key = reader.list({ reader -> KeyColumn? in
        guard let name = reader.text(), let type = reader.byte(), type < keyTypes.count else { return nil }
        return KeyColumn(name, keyTypes[Int(type)])
      }),
      let columns = reader.list({ reader -> ColumnDefinition? in
        guard let number = reader.number(), let name = reader.text(), let type = reader.byte(),
          type < columnTypes.count,
          let flags = reader.byte(), flags <= 3
        else { return nil }
        return ColumnDefinition(
          number: number, name: name, type: columnTypes[Int(type)], isNullable: flags & 1 != 0,
          isDropped: flags & 2 != 0)
      }),
      let indexes = reader.list({ reader -> IndexDefinition? in
        guard let number = reader.number(), let name = reader.text(),
          let state = reader.byte().flatMap(IndexDefinition.State.init(rawValue:)),
          let columns = reader.list({ $0.number() })
        else { return nil }
        return IndexDefinition(number: number, name: name, columns: columns, state: state)
      }), !key.isEmpty
    else { return nil }
    return TableDefinition(
      number: number, name: name, key: key, columns: columns, indexes: indexes, allowsOtherColumns: flags & 1 != 0,
      isDropped: flags & 2 != 0)
  }

  private struct Reader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    mutating func byte() -> UInt8? {
      guard offset < bytes.count else { return nil }
      defer { offset += 1 }
      return bytes[offset]
    }

    mutating func number() -> UInt16? { Varint.read(bytes, at: &offset).flatMap(UInt16.init(exactly:)) }

    mutating func text() -> String? {
      guard let count = Varint.read(bytes, at: &offset), count <= UInt64(bytes.count - offset) else { return nil }
      defer { offset += Int(count) }
      return String(validatedUTF8: bytes.slice(offset, Int(count)))
    }

    mutating func list<Element>(_ element: (inout Reader) -> Element?) -> [Element]? {
      guard let count = Varint.read(bytes, at: &offset), count <= UInt64(bytes.count - offset) else { return nil }
      var list: [Element] = []
      for _ in 0..<count {
        guard let one = element(&self) else { return nil }
        list.append(one)
      }
      return list
    }
  }
}
