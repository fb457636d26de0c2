import Strandline

extension Row {
  /// The row without columns that whoever keeps the table has for its own: their names begin with U+0001.
  var shown: Row {
    var row = self
    for column in columns where column.utf8.first == 1 { row[column] = nil }
    return row
  }
}
