import StrandlineProtocol

/// Where a row is, for server and devices alike.
struct Place: Hashable, Comparable, CustomStringConvertible {
  var table: String
  var pk: String

  static func < (left: Place, right: Place) -> Bool { (left.table, left.pk) < (right.table, right.pk) }
  var description: String { "\(table)/\(pk)" }
}

/// Columns as a trace shows them, in one order.
func text(_ columns: [String: Value]?) -> String {
  guard let columns else { return "absent" }
  let members = columns.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.json)" }
  return "{\(members.joined(separator: ", "))}"
}
