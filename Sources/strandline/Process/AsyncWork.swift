@_spi(Engine) import StrandlineLog

/// Asynchronous work waited for by the main thread, which is none of the pool's.
enum AsyncWork {
  static func wait<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
    let outcome = Outcome<Result>()
    Task { outcome.settle(await Swift.Result { try await body() }) }
    return try outcome.wait().get()
  }

  private final class Outcome<Value: Sendable>: Sendable {
    private let monitor = Monitor<Swift.Result<Value, any Error>?>(nil)

    func settle(_ result: Swift.Result<Value, any Error>) { monitor.change { $0 = result } }
    func wait() -> Swift.Result<Value, any Error> { monitor.wait { $0 } }
  }
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
