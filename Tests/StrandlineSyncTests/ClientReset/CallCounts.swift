@_spi(Engine) import StrandlineLog
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// How often the callbacks of a reset were called.
final class CallCounts: Sendable {
  private let counts = Lock((before: 0, after: 0))
  var before: Int { counts.withLock { $0.before } }
  var after: Int { counts.withLock { $0.after } }

  /// The mode of a word, with callbacks that count.
  func mode(_ word: String) throws -> ClientResetMode {
    try ClientResetMode(
      try #require(ClientResetMode.Name(rawValue: word)), before: { [self] _ in counts.withLock { $0.before += 1 } },
      after: { [self] _, _, _ in counts.withLock { $0.after += 1 } })
  }
}
