internal import StrandlineProtocol

/// A row as it is kept: exactly the columns that were written, and where it came from.
struct RowImage: Hashable, Sendable {
  /// The number of a row that did not come with a pull.
  static let localSeq = "0"

  var columns: [String: Value]
  var seq: String

  init(_ columns: [String: Value], seq: String = RowImage.localSeq) {
    self.columns = columns
    self.seq = seq
  }

  /// Reads a row of the store.
  init(_ row: Row, of table: ClientTable) {
    let isKeyless = row[HiddenColumn.isKeyless] == .bool(true)
    columns = [:]
    seq = Self.localSeq
    for (column, value) in row {
      if !HiddenColumn.isHidden(column) {
        if !(isKeyless && column == table.loneKey) { columns[column] = value }
      } else if column == HiddenColumn.seq, case .string(let text) = value {
        seq = text
      }
    }
  }

  /// As the store keeps it: with the lone key column, for queries.
  func row(_ pk: String, of table: ClientTable) -> Row {
    var cells = columns
    cells[HiddenColumn.pk] = .string(pk)
    cells[HiddenColumn.seq] = .string(seq)
    if let key = table.loneKey, columns[key] == nil {
      cells[key] = .string(pk)
      cells[HiddenColumn.isKeyless] = true
    }
    return Row(cells)
  }
}
