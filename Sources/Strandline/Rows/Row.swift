/// The cells of one row by the names of their columns.
///
/// A column that is not there and a cell that holds ``Value/null`` are told apart here; filters treat them alike.
public struct Row: Hashable, Sendable {
  struct Cell: Hashable, Sendable {
    var name: String
    var value: Value

    static func == (left: Cell, right: Cell) -> Bool {
      UTF8Order.areEqual(left.name, right.name) && left.value == right.value
    }
  }

  /// Ascending by the UTF-8 bytes of the names; no name twice.
  private(set) var cells: [Cell]

  public init() { cells = [] }

  public init(_ cells: [String: Value]) {
    self.init(unordered: cells.map { Cell(name: $0.key, value: $0.value) })
  }

  /// Of cells with one name the last is kept.
  init(unordered cells: [Cell]) {
    self.cells = cells
    var isOrdered = true
    for index in 1..<Swift.max(cells.count, 1) where UTF8Order.compare(cells[index - 1].name, cells[index].name) >= 0 {
      isOrdered = false
    }
    if isOrdered { return }
    self.cells = []
    self.cells.reserveCapacity(cells.count)
    for cell in cells { self[cell.name] = cell.value }
  }

  /// The cell of a column; nil if the row has none. Setting nil takes the column out of the row.
  public subscript(_ column: String) -> Value? {
    get {
      let (index, isFound) = place(of: column)
      return isFound ? cells[index].value : nil
    }
    set {
      let (index, isFound) = place(of: column)
      switch (newValue, isFound) {
      case (let value?, true): cells[index].value = value
      case (let value?, false): cells.insert(Cell(name: column, value: value), at: index)
      case (nil, true): cells.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Names, ascending by their UTF-8 bytes.
  public var columns: [String] { cells.map(\.name) }

  public var count: Int { cells.count }
  public var isEmpty: Bool { cells.isEmpty }

  /// Where the column is, or where it belongs.
  private func place(of column: String) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = cells.count
    while low < high {
      let middle = (low + high) / 2
      let order = UTF8Order.compare(cells[middle].name, column)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

extension Row: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral elements: (String, Value)...) {
    self.init(unordered: elements.map { Cell(name: $0.0, value: $0.1) })
  }
}

/// The cells in the order of their names.
extension Row: Sequence {
  public func makeIterator() -> AnyIterator<(column: String, value: Value)> {
    var rest = cells.makeIterator()
    return AnyIterator { rest.next().map { ($0.name, $0.value) } }
  }
}
