/// How much one server takes, from all and from each. Beyond a limit a client is answered or cut off; others do not notice.
public struct HTTPLimits: Hashable, Sendable {
  /// Connections at a time, suspended long polls and event streams included. Default 1,024. Each costs about ``headerByteCountMax`` bytes.
  public var connectionCountMax = 1024
  /// Connections from one address. Default 256; behind a proxy as many as in all.
  public var connectionCountPerAddressMax = 256
  /// Bytes of a request line with its header. Default 32 KiB.
  public var headerByteCountMax = 32 << 10
  /// Bytes of a request body, unpacked. Default 8 MiB.
  public var bodyByteCountMax = 8 << 20
  /// Bytes of all request bodies that are being received or served. Default 256 MiB.
  public var bodyByteCountOfAllMax = 256 << 20
  /// Bytes of all answers that their receivers have not taken yet. Default 256 MiB. An answer that finds no room is 503 in its
  /// place; a push may be repeated.
  public var answerByteCountOfAllMax = 256 << 20
  /// The same of one user. Default 64 MiB: one large answer, or some hundred usual ones. While it is full the user's calls are 429.
  public var answerByteCountPerUserMax = 64 << 20
  /// Calls that are being served at a time; long polls and event streams do not count. Default 256.
  public var callCountMax = 256
  /// Calls, long polls and event streams of one user at a time. Default 32.
  public var callCountPerUserMax = 32
  /// From the start of a connection until the header of its first request is there. Default 10 s.
  public var headerDeadline: Duration = .seconds(10)
  /// From the header of a request until its body is there. Default 30 s.
  public var bodyDeadline: Duration = .seconds(30)
  /// Until an answer has been taken by its receiver. Default 120 s.
  public var answerDeadline: Duration = .seconds(120)
  /// From one request on a connection until the header of the next. Default 60 s.
  public var idleDeadline: Duration = .seconds(60)
  /// Longest wait of a long poll. Default 25 s, which proxies let pass.
  public var pollDeadline: Duration = .seconds(25)
  /// Between two signs of life in an event stream. Default 15 s.
  public var heartbeat: Duration = .seconds(15)
  /// How long calls that are being served may take to end once the server stops. Default 10 s.
  public var stopDeadline: Duration = .seconds(10)

  public init() {}
}
