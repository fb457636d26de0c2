import StrandlineTestSupport
import Testing

@testable @_spi(Engine) import StrandlineLog

/// Threads and tasks that commit at the same time.
struct MixedFormsTests {
  private static func open() throws -> Log {
    var options = LogOptions()
    options.environment.fileSystem = SimulatedDisk()
    return try Log.open(at: "/log", options: options)
  }

  /// The committer leads it and is none of those who wait, so even a lone thread has to be woken.
  @Test func `a thread that joins a group of tasks is answered`() async throws {
    let log = try Self.open()
    let thread = HelperThread(name: "joins", clock: SystemClock())
    try thread.start()
    for _ in 0..<2000 {
      async let appended = log.append([[1]])
      let joined: Result<Position, LogError> = await withUnsafeContinuation { continuation in
        thread.submit { continuation.resume(returning: Result { () throws(LogError) in try log.append([[2]]) }) }
      }
      _ = try joined.get()
      _ = try await appended
    }
    thread.stop()
    #expect(log.status.last.sequence.rawValue == 4000)
    try await log.close()
  }
}
