/// One piece of work that subjects do in turns.
struct Benchmark: Sendable {
  /// A path: `append.synced.64writers`.
  let name: String
  /// One line: the work, and what is not in it.
  let summary: String
  /// Rows of the canonical run, and of the small one that the tests run.
  let fullRowCount: Int
  let smallRowCount: Int
  /// The figure that is compared.
  let primary: Metric
  /// In the order of their turns.
  let subjects: [any Subject]
  /// The subject that ours is held against, if it takes part. Without one our subject gives its own ratio, or none.
  var reference: SubjectName?
  /// The least ratio that is asked for.
  var goal: Double?
  /// What is asked of our subject in other metrics: at least, or at most, as ``Metric/moreIsBetter`` says.
  var goals: [Metric: Double] = [:]
  /// A bench whose run by the same subject, in the same turn, is what `ratio.speedUp` compares with.
  var speedUpOver: String?
  /// Every sample in a process of its own, so that its peak memory is its own.
  var isIsolated = false

  func rowCount(_ size: Size) -> Int {
    switch size {
    case .small: smallRowCount
    case .full: fullRowCount
    case .rows(let count): count
    }
  }
}

/// How much of the work a run does.
enum Size: Hashable, Sendable {
  case small, full
  case rows(Int)
}

/// Who does the work. The list is open: peers add their names where they are made.
struct SubjectName: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  /// The synchronous form, on threads.
  static let strandline = SubjectName("strandline")
  /// The asynchronous form, in tasks.
  static let strandlineAsync = SubjectName("strandline-async")
  /// The store, in benches where the log below it stands beside it.
  static let strandlineStore = SubjectName("strandline-store")
  /// The log loop in C.
  static let cReference = SubjectName("c-reference")
  /// The system calls alone.
  static let rawIO = SubjectName("raw-io")

  static let sqliteFull = SubjectName("sqlite-full")
  static let sqliteNormal = SubjectName("sqlite-normal")
  static let lmdb = SubjectName("lmdb")
  static let rocksDB = SubjectName("rocksdb")
  static let levelDB = SubjectName("leveldb")

  static let peers: [SubjectName] = [sqliteFull, sqliteNormal, lmdb, rocksDB, levelDB]

  /// Held to the goals.
  var hasGoals: Bool { self == .strandline || self == .strandlineStore }
  var isOurs: Bool { text.hasPrefix("strandline") }
  var isPeer: Bool { Self.peers.contains(self) }
}

/// Somebody who can do the work of a bench.
protocol Subject: Sendable {
  var name: SubjectName { get }
  /// Every sample in a process of its own, whatever the bench says.
  var isIsolated: Bool { get }
  /// Whether it does the work at this size: it may take minutes where others take seconds.
  func takes(rowCount: Int) -> Bool
  /// Once before the first sample: everything that is needed and not measured.
  func prepare(_ site: Site) throws
  /// One timed run. Cleans up behind itself.
  func sample(_ site: Site) throws -> Sample
}

extension Subject {
  var isIsolated: Bool { false }
  func takes(rowCount: Int) -> Bool { true }
  func prepare(_ site: Site) throws {}
}
