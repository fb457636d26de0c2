import Strandline
import StrandlineLog

/// Changelogs as tables of an issue tracker's kind: packages, the entries of their uploads, the bugs that these closed.
enum ChangelogTables {
  static let schema = Schema(tables: [
    TableSchema(
      "packages", key: [KeyColumn("name", .string)],
      columns: [
        ColumnSchema("version", .string), ColumnSchema("uploads", .int), ColumnSchema("bugs", .int),
        ColumnSchema("maintainer", .string), ColumnSchema("updated", .timestamp),
      ], indexes: [IndexSchema("by_maintainer", ["maintainer"]), IndexSchema("by_updated", ["updated"])]),
    TableSchema(
      "entries", key: [KeyColumn("package", .string), KeyColumn("version", .string)],
      columns: [
        ColumnSchema("date", .timestamp), ColumnSchema("distribution", .string), ColumnSchema("urgency", .string),
        ColumnSchema("maintainer", .string), ColumnSchema("mail", .string), ColumnSchema("changes", .string),
      ],
      indexes: [
        IndexSchema("by_date", ["date"]), IndexSchema("by_maintainer", ["maintainer", "date"]),
        IndexSchema("by_urgency", ["urgency"]),
      ]),
    TableSchema(
      "bugs", key: [KeyColumn("number", .int), KeyColumn("package", .string)],
      columns: [ColumnSchema("version", .string), ColumnSchema("closed", .timestamp)],
      indexes: [IndexSchema("by_package", ["package"]), IndexSchema("by_closed", ["closed"])]),
  ])

  /// What an import wrote.
  struct Counts: Equatable {
    var commits = 0
    var entries = 0
    var bugs = 0
    /// Entries that were there already.
    var known = 0
  }

  /// Writes each moment as one commit; what the store has already is passed over.
  static func write(
    _ moments: some Sequence<ChangelogUploads.Moment>, to store: Store, durability: Durability,
    progress: (_ commits: Int) throws -> Void = { _ in }
  ) throws -> Counts {
    var counts = Counts()
    for moment in moments {
      let metadata = ["date": UTCTime.text(seconds: moment.date / 1000)]
      let added = try store.write(metadata: metadata, durability: durability, cause: .imported) {
        (transaction: inout Transaction) throws(StoreError) in try write(moment, &transaction)
      }
      counts.commits += added.entries > 0 ? 1 : 0
      counts.entries += added.entries
      counts.bugs += added.bugs
      counts.known += added.known
      try progress(counts.commits)
    }
    return counts
  }

  private static func write(
    _ moment: ChangelogUploads.Moment, _ transaction: inout Transaction
  ) throws(StoreError) -> Counts {
    var counts = Counts()
    for entry in moment.entries {
      if try transaction.get(key: [.string(entry.package), .string(entry.version)], in: "entries") != nil {
        counts.known += 1
        continue
      }
      try transaction.put(row(entry), into: "entries")
      counts.entries += 1
      for bug in entry.closedBugs {
        try transaction.put(
          [
            "number": .int(Int64(bug)), "package": .string(entry.package), "version": .string(entry.version),
            "closed": .timestamp(entry.date),
          ], into: "bugs")
        counts.bugs += 1
      }
      try transaction.put(try package(of: entry, &transaction), into: "packages")
    }
    return counts
  }

  private static func row(_ entry: ChangelogEntry) -> Row {
    [
      "package": .string(entry.package), "version": .string(entry.version), "date": .timestamp(entry.date),
      "distribution": .string(entry.distributions.joined(separator: " ")),
      "urgency": entry.urgency.map { .string($0) } ?? .null, "maintainer": .string(entry.maintainerName),
      "mail": .string(entry.maintainerMail), "changes": .string(entry.lines.joined(separator: "\n")),
    ]
  }

  /// The package as the entry leaves it.
  private static func package(
    of entry: ChangelogEntry, _ transaction: inout Transaction
  ) throws(StoreError) -> Row {
    var row: Row = ["name": .string(entry.package), "uploads": 0, "bugs": 0]
    if let known = try transaction.get(key: [.string(entry.package)], in: "packages") { row = known }
    func raised(_ column: String, by count: Int) -> Value {
      if case .int(let number)? = row[column] { return .int(number + Int64(count)) }
      return .int(Int64(count))
    }
    row["uploads"] = raised("uploads", by: 1)
    row["bugs"] = raised("bugs", by: entry.closedBugs.count)
    row["version"] = .string(entry.version)
    row["maintainer"] = .string(entry.maintainerName)
    row["updated"] = .timestamp(entry.date)
    return row
  }
}
