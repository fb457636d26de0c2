internal import Glibc
@_spi(Engine) internal import StrandlineLog

/// Cuts off connections that take longer than a step may take.
///
/// libmicrohttpd knows only how long a connection may be silent: a client that sends a byte now and then would stay for ever.
final class ConnectionWatch: Sendable {
  private struct State {
    var connections: [ObjectIdentifier: WatchedConnection] = [:]
    var isStopping = false
  }

  private static let tick: UInt64 = 100_000_000

  private let monitor = Monitor(State())
  private let thread = HelperThread(name: "strand-http", clock: SystemClock())

  /// Starts its thread; throws what `pthread_create` answered.
  func start() throws(Errno) {
    try thread.start()
    thread.submit { [self] in
      while monitor.wait(nanoseconds: Self.tick, until: { $0.isStopping ? true : nil }) == nil {
        // Under the lock: a connection leaves before its socket is closed, so the number is still its own.
        monitor.look { state in
          let now = ContinuousClock.now
          for connection in state.connections.values where connection.isLate(now) { connection.cutOff() }
        }
      }
    }
  }

  func stop() {
    monitor.change { $0.isStopping = true }
    thread.stop()
  }

  func add(_ connection: WatchedConnection) {
    monitor.look { $0.connections[ObjectIdentifier(connection)] = connection }
  }

  func remove(_ connection: WatchedConnection) {
    _ = monitor.look { $0.connections.removeValue(forKey: ObjectIdentifier(connection)) }
  }

  var count: Int { monitor.look { $0.connections.count } }
}

/// One connection and when its present step has to be over.
final class WatchedConnection: Sendable {
  private struct State {
    var deadline: ContinuousClock.Instant?
    var isCutOff = false
    var targetByteCount = 0
  }

  private let socket: Int32
  private let state = Lock(State())

  init(socket: Int32) { self.socket = socket }

  /// Bytes of the target of the request at hand, up to its first zero.
  var targetByteCount: Int { state.withLock { $0.targetByteCount } }
  func note(targetByteCount: Int) { state.withLock { $0.targetByteCount = targetByteCount } }

  /// Begins a step; nil: one that has an end of its own.
  func begin(_ limit: Duration?) { state.withLock { $0.deadline = limit.map { .now + $0 } } }

  fileprivate func isLate(_ now: ContinuousClock.Instant) -> Bool {
    state.withLock { !$0.isCutOff && $0.deadline.map { now > $0 } ?? false }
  }

  /// The thread of the connection meets the end of the stream, and closes it.
  fileprivate func cutOff() {
    state.withLock { $0.isCutOff = true }
    shutdown(socket, Int32(SHUT_RDWR))
  }
}
