internal import Synchronization

/// The clock of a case: it stands still within a step, and jumps to the next.
final class StepClock: Sendable {
  private let now = Atomic<Int64>(TranscriptStep.time(of: 0))

  func milliseconds() -> Int64 { now.load(ordering: .acquiring) }

  func begin(step number: Int) { now.store(TranscriptStep.time(of: number), ordering: .releasing) }
}
