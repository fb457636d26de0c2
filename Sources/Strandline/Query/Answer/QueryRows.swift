/// The rows of an answer, read as they are asked for. Belongs to one thread.
public final class QueryRows {
  /// The columns that a csv of the answer has, in their order.
  public let columns: [String]
  /// Rows that the filters find, whatever offset and limit; nil unless asked for.
  public let count: Int?

  private let source: () throws(StoreError) -> Row?
  private var isAtEnd = false

  public init(columns: [String], count: Int? = nil, next: @escaping () throws(StoreError) -> Row?) {
    self.columns = columns
    self.count = count
    source = next
  }

  public convenience init(columns: [String], count: Int? = nil, rows: [Row]) {
    var rest = rows[...]
    self.init(columns: columns, count: count) { () throws(StoreError) -> Row? in rest.popFirst() }
  }

  /// The next row; nil behind the last. What an error leaves unread stays unread.
  public func next() throws(StoreError) -> Row? {
    if isAtEnd { return nil }
    do {
      if let row = try source() { return row }
    } catch {
      isAtEnd = true
      throw error
    }
    isAtEnd = true
    return nil
  }

  /// Hands over all rows that are left, one by one.
  public func forEach<Failure: Error>(_ body: (Row) throws(Failure) -> Void) throws {
    while let row = try next() { try body(row) }
  }

  /// All rows that are left, in memory.
  public func collect() throws(StoreError) -> [Row] {
    var rows: [Row] = []
    while let row = try next() { rows.append(row) }
    return rows
  }
}
