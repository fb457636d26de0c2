/// Where a sync server is and how it wants to be spoken to.
///
/// The defaults are those of the published protocol; a server of Strandline understands them too.
public struct RemoteConfiguration: Sendable {
  /// `https://host[:port][/path]`. Plain `http` only to loopback, private and link-local addresses and to names that end in `.local`.
  public var url: String
  /// Names the app to the server, in the field ``keyHeader``; not a secret, but never shown either.
  public var publishableKey: String
  /// The schema profile, in the field ``profileHeader``.
  public var schema = "kizunasync"
  /// Between the url's path and `pull` or `push`, without slashes at its ends; empty for none. A server of Strandline has `v1` beside it.
  public var pathPrefix = "rpc"
  public var keyHeader = "apikey"
  public var profileHeader = "Content-Profile"
  /// Whether the binary form is offered to the server. It is used once the server has shown that it knows it.
  public var offersBinary = true
  public var deadlines = RemoteDeadlines()
  /// Most bytes of an answer, unpacked. At least 1; default and usual 64 MiB.
  public var answerByteCountMax = 64 << 20

  public init(url: String, publishableKey: String) {
    self.url = url
    self.publishableKey = publishableKey
  }
}

/// How long each step of a call may take.
public struct RemoteDeadlines: Hashable, Sendable {
  /// Until the connection stands and takes the first byte.
  public var connect: Duration = .seconds(10)
  /// A pull or a push as a whole.
  public var request: Duration = .seconds(30)
  /// The transfer of one attachment.
  public var transfer: Duration = .seconds(120)

  public init() {}
}

extension RemoteConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Without the key.
  public var description: String { "RemoteConfiguration(\(url), schema: \(schema))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["url": url, "schema": schema]) }
}
