/// How a server is reached over HTTP.
public struct HTTPServerConfiguration: Sendable {
  /// Port 0: any that is free.
  public var address: SocketAddress
  /// In front of `/rpc/pull` and `/rpc/push`, as in `/rest/v1`; empty or begins with a slash and does not end with one. `/v1/pull` and
  /// `/v1/push` stay where they are.
  public var pathPrefix = ""
  /// Schema profiles that a request may name; empty: any. A request that names none is served.
  public var profiles: Set<String> = ["kizunasync"]
  public var profileHeader = "Content-Profile"
  /// Keys of apps of which a request has to bring one; empty: none is asked for.
  public var publishableKeys: [String] = []
  public var keyHeader = "apikey"
  /// Whether bodies in the binary form are taken, and sent to those who ask for them.
  public var offersBinary = true
  public var limits = HTTPLimits()
  /// Nil: plain HTTP, for loopback and behind a proxy.
  public var identity: TLSIdentity?
  /// Threads that read and write. Default 2; what they hand over runs on the concurrency pool.
  public var threadCount = 2

  public init(address: SocketAddress) { self.address = address }
}

/// One request, as a log tells of it. Nothing of it is a secret: paths that are not ours are not told.
public struct HTTPLogEntry: Sendable {
  public var method: String
  /// The path of a route of ours, or `other`.
  public var route: String
  /// Address and port of the other end.
  public var peer: String
  /// Nil where the connection ended before there was an answer.
  public var status: Int?
  public var receivedByteCount: Int
  public var sentByteCount: Int
  public var duration: Duration
  /// Why the server could not do what it should have; nil where it could.
  public var trouble: String?
}
