internal import Foundation
internal import Glibc

/// Told of an error where events are delivered. May call anything; nothing waits for it.
///
/// The error is a ``SyncError``, or `POSIXError(.ETIMEDOUT)` for a deadline; ``SyncError/init(classifying:)`` makes one of either.
public typealias ErrorHandler = @Sendable (_ error: any Error, _ session: SyncSession) -> Void

extension SyncClient {
  /// Told of each error that ends a run and concerns an application, of writes that were undone, and of what blocks the client: where events
  /// are delivered and in order with them. First what the configuration names. Without one, errors are logged.
  ///
  /// Looked up when an error is delivered. Nothing is told while the session is paused, and once closing was asked for.
  public var errorHandler: ErrorHandler? {
    get { withMemory { $0.errorHandler } }
    set { withMemory { $0.errorHandler = newValue } }
  }

  /// Tells an error: behind the run that is under way, with the network gate given back, or else behind what was raised before.
  func report(_ error: SyncError) {
    let waits = withMemory { memory in
      if memory.session.isRunning { memory.session.errorsBehindRun.append(error) }
      return memory.session.isRunning
    }
    if !waits { tell(error) }
  }

  /// Tells an error behind what was raised before.
  func tell(_ error: SyncError) { delivery.call { [self] in handOut(error) } }

  /// On the executor of events.
  func handOut(_ error: SyncError) {
    let (handler, isSilent) = withMemory { ($0.errorHandler, $0.session.isPaused || $0.session.isClosing) }
    if isSilent { return }
    // A gate is nothing that a reset could help.
    let isOfReset = error.code == .clientResetError && error.resetInfo?.reason != .schemaGate
    let manual = isOfReset ? configuration.clientReset.handler : nil
    if let handler = manual ?? handler { return handler(error.delivered, session) }
    let log = configuration.log ?? Self.writeToStandardError
    log("\(store.path): \(error)")
  }

  @Sendable private static func writeToStandardError(_ line: String) {
    let bytes = Array("strandline: \(line)\n".utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}

extension SyncError {
  /// What a handler gets.
  var delivered: any Error {
    if code == .connectionFailed, let deadline = originalError as? POSIXError, deadline.code == .ETIMEDOUT {
      deadline
    } else if code == .connectionFailed, (originalError as? URLError)?.code == .timedOut {
      POSIXError(.ETIMEDOUT)
    } else {
      self
    }
  }
}
