import Glibc

/// Where bytes for people and pipes go: a descriptor, buffered, or memory in tests.
///
/// SIGPIPE is ignored by ``Interruption/install()``, so a reader that went away is ``OutputError/closedPipe`` here.
final class Output {
  private static let bufferByteCountMax = 64 << 10

  /// nil: everything stays in ``pending``.
  private let descriptor: Int32?
  /// Bytes not handed to the system yet.
  private(set) var pending: [UInt8] = []

  init(descriptor: Int32?) { self.descriptor = descriptor }

  func write(_ text: String) throws(OutputError) {
    pending.append(contentsOf: text.utf8)
    try flushIfLarge()
  }

  func write(_ bytes: [UInt8]) throws(OutputError) {
    pending.append(contentsOf: bytes)
    try flushIfLarge()
  }

  /// Hands everything written so far to the system.
  func flush() throws(OutputError) {
    guard let descriptor, !pending.isEmpty else { return }
    var failure: OutputError?
    pending.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        let number = errno
        if count > 0 {
          rest = rest.dropFirst(count)
        } else if number == EAGAIN || number == EWOULDBLOCK {
          // Someone else made the terminal or pipe non-blocking: wait until it takes bytes again.
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
        } else if number != EINTR {
          failure = number == EPIPE ? .closedPipe : .failed(errno: number)
          return
        }
      }
    }
    pending.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  /// Throws ``OutputError/closedPipe`` once nobody can read any more: for commands that wait long before they write again.
  func checkReader() throws(OutputError) {
    guard let descriptor else { return }
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    if poll(&state, 1, 0) > 0, state.revents & Int16(POLLERR) != 0 { throw .closedPipe }
  }

  private func flushIfLarge() throws(OutputError) {
    if pending.count >= Self.bufferByteCountMax { try flush() }
  }
}

/// Why output went nowhere.
enum OutputError: Error, Equatable {
  /// The reader has gone. Ends the command quietly.
  case closedPipe
  case failed(errno: Int32)
}

extension OutputError: CustomStringConvertible {
  var description: String {
    switch self {
    case .closedPipe: "standard output: the reader has gone"
    case .failed(let number): "standard output: \(String(cString: strerror(number)))"
    }
  }
}
