internal import CMicrohttpd
internal import Glibc

/// A TCP socket that listens; closed with its owner.
final class ListeningSocket: Sendable {
  let descriptor: Int32
  /// As bound: with the port that the system chose where none was asked for.
  let address: SocketAddress

  /// - Throws: ``HTTPServerError/cannotListen(address:errno:)``.
  init(_ address: SocketAddress) throws(HTTPServerError) {
    func failure(_ number: Int32) -> HTTPServerError { .cannotListen(address: address.description, errno: number) }
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure(errno) }
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    if address.family == AF_INET6 {
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
    guard address.withBytes({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 1024) == 0,
      let bound = SocketAddress(boundTo: descriptor)
    else {
      let number = errno
      close(descriptor)
      throw failure(number)
    }
    self.descriptor = descriptor
    self.address = bound
  }

  deinit { close(descriptor) }
}

/// A numeric address with its port: `127.0.0.1:8080`, `[::1]:8080`. `localhost` stands for 127.0.0.1, `*` for every address of version 4.
public struct SocketAddress: Hashable, Sendable, LosslessStringConvertible {
  public let host: String
  public let port: UInt16
  let family: Int32

  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      var address = in6_addr()
      guard inet_pton(AF_INET6, host, &address) == 1 else { return nil }
      family = AF_INET6
    } else {
      if host == "localhost" { host = "127.0.0.1" }
      if host == "*" { host = "0.0.0.0" }
      var address = in_addr()
      guard inet_pton(AF_INET, host, &address) == 1 else { return nil }
      family = AF_INET
    }
    self.host = host
    self.port = port
  }

  public var description: String { family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  init?(boundTo descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let text: String? = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        getsockname(descriptor, address, &length) == 0 ? Self.text(of: address) : nil
      }
    }
    guard let address = text.flatMap({ SocketAddress($0) }) else { return nil }
    self = address
  }

  /// Empty where the address is not known.
  static func text(of address: UnsafePointer<sockaddr>?) -> String {
    guard let address else { return "" }
    var room = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
        var number = address.pointee.sin_addr
        inet_ntop(AF_INET, &number, &room, socklen_t(room.count))
        return "\(text(room)):\(UInt16(bigEndian: address.pointee.sin_port))"
      }
    case AF_INET6:
      return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
        var number = address.pointee.sin6_addr
        inet_ntop(AF_INET6, &number, &room, socklen_t(room.count))
        return "[\(text(room))]:\(UInt16(bigEndian: address.pointee.sin6_port))"
      }
    default: return ""
    }
  }

  private static func text(_ room: [CChar]) -> String {
    String(decoding: room.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  func withBytes<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    if family == AF_INET6 {
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &address.sin_addr)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
