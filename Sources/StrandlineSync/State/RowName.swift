/// Which row of which table. Texts are told apart by their bytes.
struct RowName: Hashable, Sendable, Comparable {
  var table: String
  var pk: String

  static func == (left: RowName, right: RowName) -> Bool {
    left.pk.utf8.elementsEqual(right.pk.utf8) && left.table.utf8.elementsEqual(right.table.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for text in [table, pk] {
      for byte in text.utf8 { hasher.combine(byte) }
      hasher.combine(UInt8(0xFF))
    }
  }

  static func < (left: RowName, right: RowName) -> Bool {
    if !left.table.utf8.elementsEqual(right.table.utf8) {
      return left.table.utf8.lexicographicallyPrecedes(right.table.utf8)
    }
    return left.pk.utf8.lexicographicallyPrecedes(right.pk.utf8)
  }
}
