@testable import Strandline

/// A row as a dictionary, for asking filters about it. Columns are numbered as the names come.
struct DictionaryCells: CellReading {
  var values: [Value]

  mutating func value(of column: ColumnReference) throws(StoreError) -> Value {
    if case .stored(let number) = column { values[Int(number)] } else { .null }
  }

  mutating func hasValue(where body: (Value) -> Bool) throws(StoreError) -> Bool { values.contains(where: body) }
}

struct DictionaryColumns: ColumnResolving {
  var names: [String]

  func column(named name: String) throws(StoreError) -> ColumnReference {
    names.firstIndex(of: name).map { .stored(UInt16($0)) } ?? .absent
  }

  func operand(_ value: Value, for column: ColumnReference) -> Value { value }
}

extension Filter {
  /// The answer of the engine about a row; nil: unknown.
  func answer(_ row: [String: Value]) throws(StoreError) -> Bool? {
    try validate()
    let names = row.keys.sorted()
    var cells = DictionaryCells(values: names.map { row[$0] ?? .null })
    return switch try BoundFilter(allOf: [self], columns: DictionaryColumns(names: names)).truth(of: &cells) {
    case .yes: true
    case .no: false
    case .unknown: nil
    }
  }
}
