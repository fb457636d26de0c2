extension ReadView {
  /// Whether the table can hold the row: its key, its cells and its index entries are within the store's limits.
  @_spi(Engine) public func fits(_ row: Row, in name: String) throws(StoreError) -> Bool {
    let table = try snapshot.state.tables.named(name)
    do throws(StoreError) {
      let key = try table.storeKey(table.keyNames.map { row[$0] ?? .null })
      var cells: [(column: UInt16, value: Value)] = []
      for cell in row.cells where !table.keyNames.containsExactly(cell.name) {
        guard cells.count < StoreLimits.columnCountMax else { return false }
        cells.append((UInt16(cells.count + 1), cell.value))
      }
      var bytes: [UInt8] = []
      try RowEncoding.encode(cells, into: &bytes)
      for index in table.indexes { _ = try table.indexEntry(index, of: row, key: key.bytes) }
      return true
    } catch {
      if case .limitExceeded = error { return false }
      throw error
    }
  }
}
