/// Columns that line up, for people. Holds all rows, so it is for lists that grow with the number of files, not with their size.
struct TextTable {
  enum Alignment { case left, right }

  private let alignments: [Alignment]
  private var rows: [[String]] = []

  /// - Parameter columns: heading and alignment of each.
  init(_ columns: (String, Alignment)...) {
    alignments = columns.map(\.1)
    rows = [columns.map(\.0)]
  }

  mutating func add(_ cells: String...) { rows.append(cells) }

  var isEmpty: Bool { rows.count == 1 }

  /// All lines, each with `indent` in front.
  func lines(indent: String = "") -> [String] {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = indent
      for (column, cell) in row.enumerated() {
        line += Self.padded(cell, to: widths[column], alignments[column])
        if column < row.count - 1 { line += "  " }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// `text` filled up with blanks to `width`.
  static func padded(_ text: String, to width: Int, _ alignment: Alignment) -> String {
    let blanks = String(repeating: " ", count: max(0, width - text.count))
    return alignment == .left ? text + blanks : blanks + text
  }
}
