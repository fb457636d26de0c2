/// Every bench there is, in the order of `list`. Other families add themselves to ``all``.
enum Catalogue {
  static let all: [Benchmark] =
    AppendBenches.all + LoadBenches.all + RecoveryBenches.all + ResetBenches.all + StoreBenches.all + SyncBenches.all

  static func benchmark(named name: String) -> Benchmark? { all.first { $0.name == name } }

  /// What `run` does without names: the goals that concern the log.
  static let canonicalNames = [
    "append.synced.1writer", "append.synced.64writers", "load.1M", "recovery.1M.1thread", "recovery.1M.2threads",
    "reset.log.1M",
  ]

  /// What `run table` does: the goals that a store and its peers stand in.
  static let tableNames = ["append.synced.1writer", "append.synced.64writers", "load.1M"] + StoreBenches.tableNames

  /// The benches with this name or in this family: `recovery` means all that begin with `recovery.`
  static func benchmarks(matching name: String) -> [Benchmark] {
    if name == "all" { return all }
    if name == "table" { return tableNames.compactMap(benchmark(named:)) }
    if let exact = benchmark(named: name) { return [exact] }
    return all.filter { $0.name.hasPrefix("\(name).") }
  }
}
