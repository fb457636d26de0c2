import Glibc
import Strandline
import StrandlineLog
import StrandlineServer

/// A server at work: the decisions, HTTP in front of them, and the removal of what has become old.
final class RunningServer: Sendable {
  private let server: SyncServer
  private let http: HTTPServer
  private let reaping: Task<Void, Never>

  /// Takes the store over; it is closed where the server does not start.
  init(
    _ settings: ServeSettings, _ configuration: HTTPServerConfiguration, _ store: Store, beginsNewHistory: Bool,
    _ log: ServeLog
  ) async throws {
    do {
      let keys = try await settings.keys.keys(now: SystemClock().wallMilliseconds() / 1000)
      let storage = EmbeddedServerStorage(store)
      if beginsNewHistory { try await storage.beginNewHistory() }
      server = try await SyncServer(settings.server, storage: storage)
      http = try HTTPServer(
        configuration, serving: server, keys: keys, rules: settings.rules, log: { log.request($0) })
    } catch {
      try? await store.close()
      throw Self.failure(error)
    }
    let interval = settings.reapInterval
    reaping = Task { [server] in
      while (try? await Task.sleep(for: interval)) != nil {
        do throws(ErrorAnswer) { try await server.reap() } catch {
          log.trouble("old entries were not removed: \(error)")
        }
      }
    }
  }

  var address: SocketAddress { http.address }

  /// Answers what is being served, and closes the store.
  func stop() async throws {
    reaping.cancel()
    await reaping.value
    await http.stop()
    do throws(ServerStorageFailure) { try await server.close() } catch { throw Self.failure(error) }
  }

  /// The errors of the server's library as the tool reports them.
  private static func failure(_ error: any Error) -> any Error {
    switch error {
    case let error as ServerConfigurationError: Failure(.usage, error.description)
    case let error as ServerStorageFailure: error.underlying ?? Failure(.ioFailure, error.description)
    case HTTPServerError.cannotListen(_, EADDRINUSE): Failure(.inUse, "\(error)")
    case HTTPServerError.configuration, HTTPServerError.cannotStart: Failure(.usage, "\(error)")
    case let error as HTTPServerError: Failure(.ioFailure, error.description)
    default: error
    }
  }
}
