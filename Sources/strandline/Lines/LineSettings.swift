import StrandlineLog

/// How lines become commits.
struct LineSettings: Equatable {
  var batchLineCount: Int
  /// A commit that is not full is written this long after its first line came.
  var linger: Duration
  var durability: Durability
  var acknowledges: Bool

  /// How often to look whether a timed sync has covered buffered commits that wait for their acknowledgement.
  static let durabilityCheckInterval = Duration.milliseconds(10)

  enum DurabilityName: String, CaseIterable { case synced, buffered }

  static func options(defaultBatch: Int) -> [CommandSpecification.Option] {
    [
      .init("--batch", "N", summary: "Lines in a commit, 1 to 1000000 (default \(defaultBatch))."),
      .init(
        "--linger", "MS",
        summary: "Milliseconds after which a commit is written that is not full, 0 to 86400000 (default 50)."),
      .init(
        "--durability", "synced|buffered", summary: "Survive power loss, or the end of the process (default synced)."),
      .init("--acks", summary: "Print a JSON line for each commit once it is durable."),
    ]
  }

  init(_ arguments: Arguments, defaultBatch: Int) throws(UsageError) {
    batchLineCount = try arguments.integer("--batch", in: 1...1_000_000) ?? defaultBatch
    linger = .milliseconds(try arguments.integer("--linger", in: 0...86_400_000) ?? 50)
    durability = try arguments.choice("--durability", as: DurabilityName.self) == .buffered ? .buffered : .synced
    acknowledges = arguments.has("--acks")
  }
}
