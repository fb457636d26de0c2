/// A ``SeededGenerator`` that may be asked from several threads, for an environment's random bits.
public final class SeededBits: Sendable {
  private let generator: TestLock<SeededGenerator>

  public init(seed: UInt64) { generator = TestLock(SeededGenerator(seed: seed)) }

  public func next() -> UInt64 { generator.withLock { $0.next() } }
}
