/// The few rows that everything is about, so that devices meet.
enum Places {
  static let all: [Place] = Schema.tables.flatMap { table in (1...4).map { Place(table: table, pk: "k\($0)") } }

  /// The key of the rows that a user has from the beginning.
  static func firstKey(of user: String) -> String { "k\((Schema.users.firstIndex(of: user) ?? 0) + 1)" }
}
