internal import CMicrohttpd
internal import Glibc
@_spi(Engine) internal import StrandlineLog

/// libmicrohttpd with limits on every size and time, and with answers that tasks give.
///
/// Its threads read and write and never wait: while a task works for a request the connection is suspended.
final class HTTPDaemon: Sendable {
  struct Handlers: Sendable {
    /// Called on a thread of the daemon for each head; must not block.
    var admit: @Sendable (HTTPHead) -> HTTPAdmission
    var completed: @Sendable (HTTPOutcome) -> Void
  }

  private struct State {
    var daemon: OpaquePointer?
    var listener: ListeningSocket?
    var isStopping = false
    /// From here on no connection is suspended: the daemon cannot end one that is.
    var isClosing = false
    var keptByteCount = 0
    var requestCount = 0
    var serving: [ObjectIdentifier: ServedRequest] = [:]
    var streams: [ObjectIdentifier: EventStream] = [:]
  }

  let limits: HTTPLimits
  let address: SocketAddress
  private let handlers: Handlers
  private let watch = ConnectionWatch()
  private let monitor = Monitor(State())

  /// Starts to answer on `listener`.
  ///
  /// - Parameter threadCount: that read and write, at least 1.
  /// - Throws: ``HTTPServerError/cannotStart(_:)``.
  init(
    on listener: ListeningSocket, limits: HTTPLimits, identity: TLSIdentity?, threadCount: Int,
    handlers: Handlers
  ) throws(HTTPServerError) {
    self.limits = limits
    self.handlers = handlers
    address = listener.address
    do throws(Errno) { try watch.start() } catch { throw .cannotStart("no thread: \(error)") }
    var settings = strandline_mhd_settings()
    settings.listening_socket = listener.descriptor
    settings.thread_count = UInt32(clamping: max(1, threadCount))
    settings.connection_limit = UInt32(clamping: max(threadCount, limits.connectionCountMax))
    settings.connection_limit_per_address = UInt32(clamping: max(1, limits.connectionCountPerAddressMax))
    settings.idle_seconds = UInt32(clamping: max(1, max(limits.idleDeadline, limits.answerDeadline).components.seconds))
    settings.connection_memory = max(4 << 10, limits.headerByteCountMax)
    // Its threads keep it until `stop` has ended them.
    let context = Unmanaged.passRetained(self).toOpaque()
    let daemon = Self.withCStrings(identity) { certificate, key in
      settings.certificate = certificate
      settings.key = key
      return strandline_mhd_start(&settings, Self.access, Self.began, Self.completed, Self.notified, context)
    }
    guard let daemon else {
      Unmanaged<HTTPDaemon>.fromOpaque(context).release()
      watch.stop()
      throw .cannotStart(
        identity == nil ? "the HTTP daemon does not start" : "the HTTP daemon does not start; is the certificate good?")
    }
    monitor.change { state in
      state.daemon = daemon
      state.listener = listener
    }
  }

  var connectionCount: Int { watch.count }
  var isStopping: Bool { monitor.look { $0.isStopping } }

  /// Takes no more connections, lets what is being served end for a while, and closes all. Blocks: not for the pool.
  ///
  /// - Parameter release: Ends what waits of its own accord: long polls and event streams.
  func stop(release: () -> Void) {
    let daemon = monitor.change { state in
      state.isStopping = true
      defer { state.daemon = nil }
      return state.daemon
    }
    guard let daemon else { return }
    MHD_quiesce_daemon(daemon)
    monitor.change { $0.listener = nil }
    release()
    let patience = limits.stopDeadline.nanoseconds
    _ = monitor.wait(nanoseconds: patience) { $0.serving.isEmpty ? true : nil }
    let (requests, streams) = monitor.change { state in
      state.isClosing = true
      return (Array(state.serving.values), Array(state.streams.values))
    }
    for request in requests { finish(request, .busy) }
    for stream in streams { stream.finish() }
    // What was answered is still being sent.
    _ = monitor.wait(nanoseconds: min(patience, 2_000_000_000)) { $0.requestCount == 0 ? true : nil }
    MHD_stop_daemon(daemon)
    watch.stop()
    monitor.change { $0.streams = [:] }
    Unmanaged.passUnretained(self).release()
  }

  // MARK: Requests

  private func begin(_ head: HTTPHead, on connection: ConnectionHandle) -> ServedRequest {
    let isStopping = monitor.look { state in
      state.requestCount += 1
      return state.isStopping
    }
    var admission: HTTPAdmission =
      if isStopping {
        .answer(.busy)
      } else if !head.isWhole {
        .answer(.problem(400, "the path does not end where the request says"))
      } else if !head.isLengthNumber {
        .answer(.problem(400, "the length of the body is no number"))
      } else {
        handlers.admit(head)
      }
    if case .serve(let byteCountMax, _) = admission, let length = head.contentLength, length > byteCountMax {
      admission = .answer(.tooLarge(byteCountMax))
    }
    let (eightfold, isBeyond) = limits.bodyByteCountMax.multipliedReportingOverflow(by: 8)
    return ServedRequest(
      head, on: connection, admission, discardedByteCountMax: max(64 << 20, isBeyond ? .max : eightfold))
  }

  private func reserve(_ byteCount: Int) -> Bool {
    monitor.look { state in
      guard byteCount <= limits.bodyByteCountOfAllMax - state.keptByteCount else { return false }
      state.keptByteCount += byteCount
      return true
    }
  }

  /// False where it is too late for that.
  private func serve(
    _ request: ServedRequest, _ body: [UInt8], _ answer: @escaping @Sendable ([UInt8]) async -> HTTPResponse
  ) -> Bool {
    let isClosing = monitor.change { state in
      if !state.isClosing {
        state.serving[ObjectIdentifier(request)] = request
        // Before the task, which may be quick, and under the lock, so that whoever closes finds it.
        request.connection.suspend()
      }
      return state.isClosing
    }
    if !isClosing { Task { finish(request, await answer(body)) } }
    return !isClosing
  }

  private func finish(_ request: ServedRequest, _ response: HTTPResponse) {
    guard request.answer(response) else { return }
    monitor.change { _ = $0.serving.removeValue(forKey: ObjectIdentifier(request)) }
    request.connection.resume()
  }

  private func add(_ stream: EventStream) {
    let isClosing = monitor.look { state in
      state.streams = state.streams.filter { $0.value.isOpen }
      state.streams[ObjectIdentifier(stream)] = stream
      return state.isClosing
    }
    if isClosing { stream.finish() }
  }

  private func end(_ request: ServedRequest) {
    handlers.completed(request.outcome())
    monitor.change { state in
      state.keptByteCount -= request.keptByteCount
      state.requestCount -= 1
    }
  }

  // MARK: Callbacks, on the daemon's threads

  /// The request's target is known, and nothing of it is taken apart yet.
  private static let began:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
      context, target, connection in
      if let context, let target, let connection {
        let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
        daemon.watched(connection)?.note(targetByteCount: strlen(target))
      }
      return nil
    }

  private static let access: MHD_AccessHandlerCallback = {
    context, connection, url, method, version, piece, pieceByteCount, slot in
    guard let context, let connection, let pieceByteCount, let slot else { return .NO }
    let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
    let watched = daemon.watched(connection)
    guard let opaque = slot.pointee else {
      let head = HTTPHead(
        connection, url: url, method: method, version: version, targetByteCount: watched?.targetByteCount ?? 0)
      let request = daemon.begin(head, on: ConnectionHandle(pointer: connection))
      slot.pointee = Unmanaged.passRetained(request).toOpaque()
      watched?.begin(daemon.limits.bodyDeadline)
      if let response = request.early() { return response.queue(on: request.connection) }
      return .YES
    }
    let request = Unmanaged<ServedRequest>.fromOpaque(opaque).takeUnretainedValue()
    let next: ServedRequest.Next
    if pieceByteCount.pointee > 0 {
      next = request.take(UnsafeRawBufferPointer(start: piece, count: pieceByteCount.pointee), reserve: daemon.reserve)
      pieceByteCount.pointee = 0
    } else {
      next = request.advance()
    }
    switch next {
    case .readOn: return .YES
    case .closeConnection: return .NO
    case .serve(let body, let answer):
      watched?.begin(nil)
      return daemon.serve(request, body, answer) ? .YES : .NO
    case .queue(let response):
      if case .events(let stream) = response.body {
        watched?.begin(nil)
        daemon.add(stream)
      } else {
        watched?.begin(daemon.limits.answerDeadline)
      }
      return response.queue(on: ConnectionHandle(pointer: connection))
    }
  }

  private static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
    guard let context, let connection, let opaque = slot?.pointee else { return }
    slot?.pointee = nil
    let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
    daemon.watched(connection)?.begin(daemon.limits.idleDeadline)
    daemon.end(Unmanaged<ServedRequest>.fromOpaque(opaque).takeRetainedValue())
  }

  private static let notified: MHD_NotifyConnectionCallback = { context, connection, slot, event in
    guard let context, let connection, let slot else { return }
    let daemon = Unmanaged<HTTPDaemon>.fromOpaque(context).takeUnretainedValue()
    if event.rawValue == strandline_mhd_started {
      let watched = WatchedConnection(socket: strandline_mhd_socket(connection))
      watched.begin(daemon.limits.headerDeadline)
      slot.pointee = Unmanaged.passRetained(watched).toOpaque()
      daemon.watch.add(watched)
    } else if let opaque = slot.pointee {
      slot.pointee = nil
      daemon.watch.remove(Unmanaged<WatchedConnection>.fromOpaque(opaque).takeRetainedValue())
    }
  }

  private func watched(_ connection: OpaquePointer) -> WatchedConnection? {
    strandline_mhd_socket_context(connection).map {
      Unmanaged<WatchedConnection>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private static func withCStrings<Result>(
    _ identity: TLSIdentity?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Result
  ) -> Result {
    guard let identity else { return body(nil, nil) }
    return identity.certificate.withCString { certificate in identity.key.withCString { body(certificate, $0) } }
  }
}

extension Duration {
  /// Of those above zero, at most some centuries.
  fileprivate var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000).partialValue
      &+ UInt64(clamping: attoseconds / 1_000_000_000)
  }
}

extension HTTPHead {
  /// Reads the head of the request that a connection has.
  fileprivate init(
    _ connection: OpaquePointer, url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?, targetByteCount: Int
  ) {
    self.init(
      method: method.map { String(cString: $0) } ?? "", path: url.map { String(cString: $0) } ?? "",
      peer: SocketAddress.text(of: strandline_mhd_peer(connection)))
    withUnsafeMutablePointer(to: &self) { head in
      _ = MHD_get_connection_values(connection, .HEADER_KIND, Self.addField, head)
      _ = MHD_get_connection_values(connection, .GET_ARGUMENT_KIND, Self.addQuery, head)
    }
    // A zero byte ends what C takes for the target. Then the version, which stands behind it in the request line, does not begin where it ends.
    isWhole = url.map { $0 + targetByteCount + 1 == version } ?? false
  }

  private static let addField: MHD_KeyValueIterator = { head, _, name, value in
    guard let head, let name else { return .YES }
    let text = value.map { String(cString: $0) } ?? ""
    head.assumingMemoryBound(to: HTTPHead.self).pointee.fields[String(cString: name).lowercased(), default: ""].join(
      text)
    return .YES
  }

  private static let addQuery: MHD_KeyValueIterator = { head, _, name, value in
    guard let head, let name else { return .YES }
    let text = value.map { String(cString: $0) } ?? ""
    head.assumingMemoryBound(to: HTTPHead.self).pointee.query[String(cString: name), default: ""].join(text)
    return .YES
  }
}

extension String {
  /// A second value of one name makes a list of both, which no field of ours understands.
  fileprivate mutating func join(_ other: String) { self = isEmpty ? other : "\(self),\(other)" }
}

extension HTTPResponse {
  fileprivate func queue(on connection: ConnectionHandle) -> MHD_Result {
    let response: OpaquePointer?
    switch body {
    case .bytes(let bytes):
      response = bytes.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer(
          bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
      }
    case .events(let stream):
      stream.begin(on: connection)
      response = MHD_create_response_from_callback(
        UInt64.max, 4096, Self.read, Unmanaged.passRetained(stream).toOpaque(), Self.free)
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    for field in fields { MHD_add_response_header(response, field.name, field.value) }
    return MHD_queue_response(connection.pointer, UInt32(status), response)
  }

  private static let read: MHD_ContentReaderCallback = { stream, _, buffer, count in
    guard let stream, let buffer else { return -2 }
    return Unmanaged<EventStream>.fromOpaque(stream).takeUnretainedValue().read(
      into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
  }

  private static let free: MHD_ContentReaderFreeCallback = { stream in
    guard let stream else { return }
    Unmanaged<EventStream>.fromOpaque(stream).takeRetainedValue().gone()
  }
}
