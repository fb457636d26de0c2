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
  /// The log loop in C.
  static let cReference = SubjectName("c-reference")
  /// The system calls alone.
  static let rawIO = SubjectName("raw-io")

  var isOurs: Bool { text.hasPrefix("strandline") }
}

/// Somebody who can do the work of a bench.
protocol Subject: Sendable {
  var name: SubjectName { get }
  /// Once before the first sample: everything that is needed and not measured.
  func prepare(_ site: Site) throws
  /// One timed run. Cleans up behind itself.
  func sample(_ site: Site) throws -> Sample
}

extension Subject {
  func prepare(_ site: Site) throws {}
}
