internal import CMicrohttpd
@_spi(Engine) internal import StrandlineLog

/// Server-sent events on their way: written by whoever has news, read by the thread of the connection.
///
/// While there is nothing to send the connection is suspended and costs its memory alone.
final class EventStream: Sendable {
  private struct State {
    var waiting: [UInt8] = []
    var isFinished = false
    /// The connection has gone; nobody reads any more.
    var isGone = false
    var connection: ConnectionHandle?
    var isSuspended = false

    /// The connection, where it has to be resumed.
    mutating func wake() -> ConnectionHandle? {
      guard isSuspended else { return nil }
      isSuspended = false
      return connection
    }
  }

  /// A reader that leaves so much lying is not reading.
  private static let waitingByteCountMax = 64 << 10

  private let state = Lock(State())

  /// Whether somebody may still read.
  var isOpen: Bool { state.withLock { !$0.isGone && !$0.isFinished } }

  /// False once nobody reads any more.
  @discardableResult
  func send(_ text: String) -> Bool {
    let (isTaken, woken) = state.withLock { state in
      guard !state.isGone, !state.isFinished, state.waiting.count < Self.waitingByteCountMax else {
        return (false, ConnectionHandle?.none)
      }
      state.waiting.append(contentsOf: text.utf8)
      return (true, state.wake())
    }
    woken?.resume()
    return isTaken
  }

  /// What was sent still goes out; then the answer ends.
  func finish() {
    let woken = state.withLock { state in
      state.isFinished = true
      return state.wake()
    }
    woken?.resume()
  }

  // MARK: The connection's side

  func begin(on connection: ConnectionHandle) { state.withLock { $0.connection = connection } }

  func gone() { state.withLock { $0.isGone = true } }

  /// Fills the buffer and returns how much that is; -1 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    state.withLock { state in
      guard state.waiting.isEmpty else {
        let count = min(buffer.count, state.waiting.count)
        buffer.copyBytes(from: state.waiting[..<count])
        state.waiting.removeFirst(count)
        return count
      }
      if state.isFinished { return -1 }
      // Under the lock, so that what is sent next finds it suspended.
      state.connection?.suspend()
      state.isSuspended = true
      return 0
    }
  }
}

/// A connection of libmicrohttpd, which may be suspended on its own thread and resumed on any.
struct ConnectionHandle: @unchecked Sendable {
  let pointer: OpaquePointer

  func suspend() { MHD_suspend_connection(pointer) }
  func resume() { MHD_resume_connection(pointer) }
}
