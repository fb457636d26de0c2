/// A message, or a part of one, that cannot be decoded.
public struct MessageDefect: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where in the message, as in `rows[3].seq`; empty: the whole.
  public var path: String
  public var reason: String

  public init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  public var description: String { path.isEmpty ? reason : "\(path): \(reason)" }
}
