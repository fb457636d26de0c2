import Strandline

/// A JSON object as a row.
enum RowLine {
  /// - Parameter place: of the text, for messages: `line 7`.
  static func row(_ text: UnsafeRawBufferPointer, _ place: String) throws(Failure) -> Row {
    let value: Value
    do throws(StoreError) {
      value = try Value.json(text)
    } catch {
      throw Failure(.usage, "\(place): \(error)")
    }
    guard case .object(let cells) = value else { throw Failure(.usage, "\(place) is no JSON object") }
    return Row(cells)
  }

  /// The row with its key cells as the key columns hold them: JSON has no form of its own for uuid, bytes and timestamps.
  static func keyed(_ row: Row, _ table: TableSchema) -> Row {
    var row = row
    for column in table.key {
      guard let value = row[column.name], let type = ColumnType(rawValue: column.type.rawValue),
        let converted = value.converted(to: type)
      else { continue }
      row[column.name] = converted
    }
    return row
  }

  static func row(_ text: String, _ place: String) throws(Failure) -> Row {
    try Array(text.utf8).span.bytes.withUnsafeBytes { (bytes) throws(Failure) in try row(bytes, place) }
  }

  /// An error that the data is to blame for, as one of its place; others as they are.
  static func placed(_ error: StoreError, _ place: String, _ aftermath: String? = nil) -> any Error {
    switch error {
    case .unknownColumn, .typeMismatch, .invalidKey, .limitExceeded, .undecodable, .coding:
      Failure(.usage, "\(place): \(error.summary)\(aftermath.map { ". \($0)" } ?? "")")
    default: error
    }
  }
}
