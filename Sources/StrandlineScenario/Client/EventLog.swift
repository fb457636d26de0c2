internal import StrandlineSync
internal import Synchronization

/// The names of the events of a case, in order.
final class EventLog: Sendable {
  private let log = Mutex<[String]>([])

  var names: [String] { log.withLock { $0 } }

  /// Listens to a client whose events are delivered within the calls that raise them.
  func listen(to client: SyncClient) {
    client.on { [self] event in log.withLock { $0.append(event.name) } }
  }
}
