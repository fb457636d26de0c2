internal import Glibc

/// Why a server does not start.
public enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  case cannotListen(address: String, errno: Int32)
  case cannotStart(String)
  /// The configuration contradicts itself or names what cannot be.
  case configuration(String)

  public var description: String {
    switch self {
    case .cannotListen(let address, let number): "cannot listen on \(address): \(String(cString: strerror(number)))"
    case .cannotStart(let reason): reason
    case .configuration(let reason): reason
    }
  }
}

/// A certificate with its key, both in PEM. Never shown.
public struct TLSIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var certificate: String
  var key: String

  public init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }

  public var description: String { "TLSIdentity" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
