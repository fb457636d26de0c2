/// Sorts rows, and keeps no more of them than are asked for.
struct RowSorter {
  struct Item {
    var values: [Value]
    var key: [UInt8]
    /// Nil: to be read again.
    var row: [UInt8]?
  }

  private let orders: [BoundOrder]
  /// Nil: all.
  private let countMax: Int?
  private let keepsRows: Bool
  /// With a limit a heap, its last item in front.
  private var items: [Item] = []
  private var scratch: [Value] = []

  init(_ orders: [BoundOrder], countMax: Int?, keepsRows: Bool) {
    self.orders = orders
    self.countMax = countMax
    self.keepsRows = keepsRows
  }

  var count: Int { items.count }

  mutating func add(_ cells: inout StoredCells) throws(StoreError) {
    scratch.removeAll(keepingCapacity: true)
    for order in orders { scratch.append(try cells.value(of: order.column)) }
    if let countMax, items.count == countMax {
      guard let last = items.first, isBefore(scratch, cells.key, last) else { return }
      items[0] = item(cells)
      sink(0)
    } else {
      items.append(item(cells))
      if countMax != nil { rise(items.count - 1) }
    }
  }

  /// What is kept, in order.
  consuming func sorted() -> [Item] {
    let orders = orders
    var items = items
    items.sort { Self.compare($0, $1, orders) < 0 }
    return items
  }

  private func item(_ cells: borrowing StoredCells) -> Item {
    Item(values: scratch, key: Array(cells.key), row: keepsRows ? Array(cells.bytes) : nil)
  }

  private func isBefore(_ values: [Value], _ key: UnsafeRawBufferPointer, _ item: Item) -> Bool {
    for (place, order) in orders.enumerated() {
      let result = order.compare(values[place], item.values[place])
      if result != 0 { return result < 0 }
    }
    return item.key.withUnsafeBytes { KeyView.compare(key, $0) } < 0
  }

  private static func compare(_ left: Item, _ right: Item, _ orders: [BoundOrder]) -> Int {
    for (place, order) in orders.enumerated() {
      let result = order.compare(left.values[place], right.values[place])
      if result != 0 { return result }
    }
    return left.key.withUnsafeBytes { one in right.key.withUnsafeBytes { KeyView.compare(one, $0) } }
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0 {
      let parent = (place - 1) / 2
      guard Self.compare(items[parent], items[place], orders) < 0 else { return }
      items.swapAt(parent, place)
      place = parent
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var last = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < items.count && Self.compare(items[last], items[child], orders) < 0 {
        last = child
      }
      if last == place { return }
      items.swapAt(place, last)
      place = last
    }
  }
}
