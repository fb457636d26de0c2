import Strandline

/// Rows in columns for people, printed as they come: the first rows decide how wide a column is.
struct RowTable {
  private static let sampleCount = 100
  private static let widthMax = 48

  private let columns: [String]
  private let console: Console
  private var sample: [[String]] = []
  private var widths: [Int]?
  private(set) var rowCount = 0

  init(columns: [String], console: Console) {
    self.columns = columns
    self.console = console
  }

  mutating func add(_ row: Row) throws {
    rowCount += 1
    let cells = columns.map { row[$0].map(ValueText.cell) ?? "" }
    guard let widths else {
      sample.append(cells)
      if sample.count == Self.sampleCount { try settle() }
      return
    }
    try print(cells, widths)
  }

  mutating func finish() throws { if widths == nil { try settle() } }

  private mutating func settle() throws {
    let names = columns.map { TerminalText.escaped($0) }
    let widths = columns.indices.map { column in
      min(max(names[column].count, sample.map { $0[column].count }.max() ?? 0), Self.widthMax)
    }
    self.widths = widths
    if sample.isEmpty { return }
    try console.print(console.styled(.bold, Self.line(names, widths)))
    for cells in sample { try print(cells, widths) }
    sample = []
  }

  private func print(_ cells: [String], _ widths: [Int]) throws { try console.print(Self.line(cells, widths)) }

  static func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (place, (cell, width)) in zip(cells, widths).enumerated() {
      let shown = cell.count <= width ? cell : String(cell.prefix(max(width - 1, 0))) + "…"
      line += place < cells.count - 1 ? TextTable.padded(shown, to: width, .left) + "  " : shown
    }
    while line.last == " " { line.removeLast() }
    return line
  }
}
