@_spi(Engine) import StrandlineLog
import StrandlineSync

/// What an error handler was told.
final class ErrorLog: Sendable {
  private let log = Lock<[any Error]>([])

  var handler: ErrorHandler {
    { [self] error, _ in log.withLock { $0.append(error) } }
  }

  var errors: [any Error] { log.withLock { $0 } }
  var codes: [SyncError.Code] { errors.map { SyncError(classifying: $0).code } }
}

extension TestClient {
  /// A client whose errors are kept.
  static func openLogged(
    _ tables: [String: TableConfiguration] = ["todos": TableConfiguration()],
    change: (inout SyncConfiguration) -> Void = { _ in }
  ) async throws -> (TestClient, ErrorLog) {
    let errors = ErrorLog()
    let test = try await open(tables) { configuration in
      configuration.errorHandler = errors.handler
      change(&configuration)
    }
    return (test, errors)
  }

  /// What was told so far; everything raised before the call is among it.
  func codes(_ errors: ErrorLog) async -> [SyncError.Code] {
    _ = await events()
    return errors.codes
  }
}
