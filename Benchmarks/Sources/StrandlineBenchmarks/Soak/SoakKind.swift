/// A kind of test that gets better the longer it runs.
protocol SoakKind: Sendable {
  /// The word behind `--kind`.
  var name: String { get }
  var summary: String { get }
  /// Works until `deadline`; everything it decides follows from the seed.
  ///
  /// - Throws: ``BenchmarkError/finding(_:)`` with what was found and how to see it again.
  func run(_ order: SoakOrder) throws
}

struct SoakOrder: Sendable {
  var seed: UInt64
  var minutes: Int
  /// Exists; belongs to this run.
  var directory: String
  /// Of ``monotonicNanoseconds()``.
  var deadline: UInt64

  var isOver: Bool { monotonicNanoseconds() >= deadline }
}

/// All kinds. A new kind is a type of its own and a line here.
enum SoakKinds {
  static let all: [any SoakKind] = [
    KillSoak(), SuiteSoak.crash, SuiteSoak.fuzz, SuiteSoak.sync, MutantSoak(),
  ]
}
