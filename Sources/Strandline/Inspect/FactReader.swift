@_spi(Engine) public import StrandlineLog

/// Makes the records of a store's log readable: cause and metadata of each commit, and what it did to what, tables and columns by name.
///
/// Learns the tables from the definitions in the log as they come by. For the dump tool: opens nothing, and what it cannot name it hands
/// over as bytes.
@_spi(Engine) public struct FactReader {
  /// One record of a store's log.
  @_spi(Engine) public enum Record: Sendable {
    /// The first record of a commit.
    case header(cause: Cause, metadata: [String: String])
    case fact(Fact)
  }

  /// A put or delete.
  @_spi(Engine) public struct Fact: Sendable {
    @_spi(Engine) public enum Content: Sendable {
      case row(table: String, key: [Value], row: Row?)
      /// An entry of a secondary index, by the key of its row.
      case index(table: String, index: String, key: [Value])
      case event(StreamEvent)
      case table(TableSchema, number: UInt16, isDropped: Bool)
      /// What has no better form, or is damaged: the bytes.
      case other(key: [UInt8], value: [UInt8]?)
    }

    /// A cell of a row whose column has no name: it was dropped, or its definition is not in what was read.
    @_spi(Engine) public struct UnnamedCell: Hashable, Sendable {
      public var column: UInt16
      public var value: Value
    }

    public var isDelete: Bool
    /// `row`, `index`, `stream`, …, or its number if this version does not know it.
    public var family: String
    /// Number of the table, where the family has tables.
    public var tableNumber: UInt16?
    public var content: Content
    /// Cells that the row of ``content`` lacks, by the numbers of their columns.
    public var unnamedCells: [UnnamedCell] = []
  }

  private var definitions: [UInt16: TableDefinition] = [:]
  private var tables: [UInt16: Table] = [:]

  /// Knows no tables yet.
  public init() {}

  /// Knows the tables that the layers of a store hold, as far as these can be read.
  ///
  /// - Parameter layers: as META names them, top first.
  public init(layers: [LayerEntry], of identifier: StoreIdentifier, inDirectory path: String) {
    let directory = StoreDirectory(path: path, fileSystem: Environment.system.fileSystem)
    let cache = BlockCache(byteCountMax: 1 << 20)
    let seed = KeySeeds(memory: 0, identifier: identifier).disk
    let range = KeyRange.all(KeyPrefix(.catalog))
    for entry in layers.reversed() {
      do throws(StoreError) {
        let layer = try DiskLayer(opening: entry, in: directory, identifier: identifier, cache: cache, keySeed: seed)
        let cursor = VisibleCursor([layer.makeCursor()], range: range, at: .max, reverse: false)
        while let version = try cursor.next() { learn(version.key, version.value) }
      } catch {
        // A layer that is damaged has its own finding elsewhere; here its tables stay numbers.
        continue
      }
    }
  }

  /// Reads a record; nil for bytes that are no fact of a store.
  public mutating func read(_ record: UnsafeRawBufferPointer, of sequence: SequenceNumber) -> Record? {
    switch FactView.decode(record) {
    case nil: return nil
    case .header(let header): return .header(cause: header.cause, metadata: header.metadata)
    case .put(let key, let value):
      learn(key, value)
      return .fact(fact(key, value, sequence))
    case .delete(let key): return .fact(fact(key, nil, sequence))
    }
  }

  private mutating func learn(_ key: KeyView, _ value: UnsafeRawBufferPointer?) {
    guard key.prefix == KeyPrefix(.catalog), key.bytes.count == 2, let value else { return }
    let number = UInt16(key.bytes[0]) << 8 | UInt16(key.bytes[1])
    guard let definition = try? TableDefinition.decode(value, number: number) else { return }
    definitions[number] = definition
    tables[number] = Table(definition)
  }

  private func fact(_ key: KeyView, _ value: UnsafeRawBufferPointer?, _ sequence: SequenceNumber) -> Fact {
    let family = Family(rawValue: key.prefix.familyNumber)
    let hasTable = family == .row || family == .index
    var fact = Fact(
      isDelete: value == nil, family: family.map { "\($0)" } ?? "\(key.prefix.familyNumber)",
      tableNumber: hasTable ? key.prefix.table : nil,
      content: content(family, key, value, sequence)
        ?? .other(key: Array(key.bytes), value: value.map { Array($0) }))
    if case .row = fact.content, let table = tables[key.prefix.table], let row = value.flatMap({ try? StoredRow($0) }) {
      for index in 0..<row.columnCount where table.name(of: row.column(at: index)) == nil {
        guard let cell = try? row.value(at: index) else { continue }
        fact.unnamedCells.append(Fact.UnnamedCell(column: row.column(at: index), value: cell))
      }
    }
    return fact
  }

  private func content(
    _ family: Family?, _ key: KeyView, _ value: UnsafeRawBufferPointer?, _ sequence: SequenceNumber
  ) -> Fact.Content? {
    switch family {
    case .row:
      guard let table = tables[key.prefix.table], let keyValues = try? table.keyValues(of: key.bytes) else {
        return nil
      }
      guard let value else { return .row(table: table.name, key: keyValues, row: nil) }
      return (try? table.row(key: key.bytes, value)).map { .row(table: table.name, key: keyValues, row: $0) }
    case .index:
      guard let table = tables[key.prefix.table], let row = Self.rowKey(ofIndexEntry: key.bytes),
        let keyValues = try? table.keyValues(of: row), let index = Self.index(of: key.bytes, in: table)
      else { return nil }
      return .index(table: table.name, index: index, key: keyValues)
    case .stream:
      return value.flatMap { try? StreamEvent(key: key.bytes, $0, position: sequence) }.map(Fact.Content.event)
    case .catalog:
      guard key.bytes.count == 2, let value else { return nil }
      let number = UInt16(key.bytes[0]) << 8 | UInt16(key.bytes[1])
      guard let definition = try? TableDefinition.decode(value, number: number) else { return nil }
      return .table(TableSchema(definition), number: number, isDropped: definition.isDropped)
    default: return nil
    }
  }

  /// The primary key at the end of an index entry: its length is in the last two bytes.
  private static func rowKey(ofIndexEntry bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard bytes.count >= 4 else { return nil }
    let length = Int(bytes[bytes.count - 2]) << 8 | Int(bytes[bytes.count - 1])
    guard length <= bytes.count - 4 else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - 2 - length)..<(bytes.count - 2)])
  }

  private static func index(of bytes: UnsafeRawBufferPointer, in table: Table) -> String? {
    let number = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    return table.definition.indexes.first { $0.number == number }?.name
  }
}
