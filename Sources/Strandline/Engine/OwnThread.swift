@_spi(Engine) internal import StrandlineLog

/// Runs one blocking piece of work on a thread made for it, while the caller suspends.
enum OwnThread {
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Result
  ) async throws -> Result {
    let thread = HelperThread(name: "strand-work", clock: SystemClock())
    do throws(Errno) {
      try thread.start()
    } catch {
      throw StoreError.ioFailed(IOFailure(operation: .startThread, path: "", errno: error))
    }
    defer { thread.stop() }
    let outcome: Swift.Result<Result, StoreError> = await withUnsafeContinuation { continuation in
      thread.submit {
        do throws(StoreError) {
          continuation.resume(returning: .success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try outcome.get()
  }
}
