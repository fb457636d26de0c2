import StrandlineTestSupport

/// A server that answers each connection with the next answer of its script, and keeps what it was asked.
final class ScriptedServer: Sendable {
  enum Step: Sendable {
    case bytes([UInt8])
    /// Reads the request and says nothing until the other end has gone.
    case silence
    /// Says this much and breaks off.
    case broken(String)
  }

  let port: Int
  private let heard = TestLock<[HTTPMessageText]>([])

  init(_ script: [Step]) throws {
    let (listener, port) = try LoopbackSocket.listen()
    self.port = port
    detachThread { [weak self] in
      for step in script {
        guard let connection = try? listener.accept() else { return }
        guard let request = connection.receiveMessage() else { continue }
        self?.heard.withLock { $0.append(request) }
        switch step {
        case .bytes(let bytes): try? connection.send(bytes)
        case .silence: _ = connection.receiveToEnd()
        case .broken(let text): try? connection.send(text)
        }
      }
    }
  }

  var url: String { "http://127.0.0.1:\(port)" }
  var requests: [HTTPMessageText] { heard.withLock { $0 } }

  static func answer(
    _ status: Int, _ body: [UInt8], type: String = "application/json", fields: [String: String] = [:]
  ) -> Step {
    var head = "HTTP/1.1 \(status) X\r\nConnection: close\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    return .bytes(Array((head + "\r\n").utf8) + body)
  }

  static func answer(_ status: Int, _ text: String, fields: [String: String] = [:]) -> Step {
    answer(status, Array(text.utf8), fields: fields)
  }
}
