internal import Glibc

/// A blocking TCP socket on 127.0.0.1, for tests that speak to servers and clients byte by byte. Its calls belong on a thread of their own:
/// ``onOwnThread(_:)``.
public final class LoopbackSocket: Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public var operation: String
    public var number: Int32
    public var description: String { "\(operation): \(String(cString: strerror(number)))" }
  }

  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { Glibc.close(descriptor) }

  /// A listener on a free port. `backlog` connections wait to be accepted, and one more.
  public static func listen(backlog: Int32 = 64) throws(Failure) -> (socket: LoopbackSocket, port: Int) {
    let socket = LoopbackSocket(descriptor: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = Self.address(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isDone = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket.descriptor, address, length) == 0 && Glibc.listen(socket.descriptor, backlog) == 0
          && getsockname(socket.descriptor, address, &length) == 0
      }
    }
    guard isDone else { throw Failure(operation: "listen", number: errno) }
    return (socket, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A port that nobody has just now, for a server that has to be told one. No outgoing connection is given such a port.
  public static func freePort() throws(Failure) -> Int {
    var failure = Failure(operation: "bind", number: EADDRINUSE)
    for _ in 0..<100 {
      let port = Int.random(in: 20_000..<32_000)
      let socket = LoopbackSocket(descriptor: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
      var address = Self.address(port: port)
      let answer = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      if answer == 0 { return port }
      failure.number = errno
    }
    throw failure
  }

  public func accept() throws(Failure) -> LoopbackSocket {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { throw Failure(operation: "accept", number: errno) }
    return LoopbackSocket(descriptor: accepted)
  }

  /// - Parameter isWaiting: false: returns at once, whether the connection stands or not.
  public static func connect(port: Int, isWaiting: Bool = true) throws(Failure) -> LoopbackSocket {
    let kind = Int32(SOCK_STREAM.rawValue) | (isWaiting ? 0 : Int32(SOCK_NONBLOCK.rawValue))
    let socket = LoopbackSocket(descriptor: Glibc.socket(AF_INET, kind, 0))
    var address = Self.address(port: port)
    let answer = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard answer == 0 || (!isWaiting && errno == EINPROGRESS) else {
      throw Failure(operation: "connect", number: errno)
    }
    return socket
  }

  public func send(_ text: String) throws(Failure) { try send(Array(text.utf8)) }

  public func send(_ bytes: [UInt8]) throws(Failure) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(operation: "send", number: errno) }
      sent += count
    }
  }

  /// Tells the other end that no more comes; what it sends can still be received.
  public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// What has come, at least one byte; empty at the end, also where the other end broke the connection.
  public func receive(_ byteCountMax: Int = 64 << 10) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCountMax) { bytes, count in
      count = max(0, recv(descriptor, bytes.baseAddress, byteCountMax, 0))
    }
  }

  public func receiveToEnd() -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let more = receive()
      if more.isEmpty { return bytes }
      bytes += more
    }
  }

  /// One HTTP message with a `Content-Length`, or without a body; nil if the connection ended first.
  public func receiveMessage() -> HTTPMessageText? {
    var bytes: [UInt8] = []
    while true {
      if let message = HTTPMessageText(bytes) { return message }
      let more = receive()
      if more.isEmpty { return nil }
      bytes += more
    }
  }

  private static func address(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}

/// An HTTP message taken apart, as a test looks at it.
public struct HTTPMessageText: Sendable {
  /// The request line or the status line.
  public var start: String
  /// By name in lower case.
  public var fields: [String: String] = [:]
  public var body: [UInt8] = []

  /// Nil while something is missing.
  public init?(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = Self.end(of: bytes) else { return nil }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    start = String(lines[0])
    for line in lines.dropFirst() {
      if line.isEmpty { break }
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " }) }
    }
    let length = fields["content-length"].flatMap { Int($0) } ?? 0
    guard bytes.count - end >= length else { return nil }
    body = Array(bytes[end..<end + length])
  }

  public var status: Int? { start.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
  public var text: String { String(decoding: body, as: UTF8.self) }

  private static func end(of bytes: [UInt8]) -> Int? {
    let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    guard bytes.count >= 4 else { return nil }
    return (0...bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual(mark) }.map { $0 + 4 }
  }
}

/// Runs something that blocks, and leaves the pool to those who do not.
public func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    detachThread { continuation.resume(with: Swift.Result { try body() }) }
  }
}

/// Starts a thread and does not wait for it.
public func detachThread(_ body: @escaping @Sendable () -> Void) {
  final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  let argument = Unmanaged.passRetained(Start(body)).toOpaque()
  let failure = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
      return nil
    }, argument)
  precondition(failure == 0, "no thread: errno \(failure)")
  pthread_detach(thread)
}
