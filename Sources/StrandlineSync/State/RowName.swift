@_spi(Engine) internal import Strandline

/// Which row of which table. Texts are told apart by their bytes.
struct RowName: Hashable, Sendable, Comparable {
  var table: String
  var pk: String

  static func == (left: RowName, right: RowName) -> Bool {
    ExactName(left.pk) == ExactName(right.pk) && ExactName(left.table) == ExactName(right.table)
  }

  func hash(into hasher: inout Hasher) {
    ExactName(table).hash(into: &hasher)
    hasher.combine(UInt8(0xFF))
    ExactName(pk).hash(into: &hasher)
  }

  static func < (left: RowName, right: RowName) -> Bool {
    if ExactName(left.table) != ExactName(right.table) {
      return left.table.utf8.lexicographicallyPrecedes(right.table.utf8)
    }
    return left.pk.utf8.lexicographicallyPrecedes(right.pk.utf8)
  }
}
