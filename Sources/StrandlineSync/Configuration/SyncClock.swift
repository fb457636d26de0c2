internal import Strandline
internal import StrandlineLog

/// Where a client reads the time.
public protocol SyncClock: Sendable {
  /// Milliseconds since 1970. May step in either direction.
  func milliseconds() -> Int64
}

/// Where a client takes new identities from.
public protocol IDSource: Sendable {
  /// A UUID that was never given before, in lower case.
  func uuid() -> String
}

/// `CLOCK_REALTIME`.
public struct MachineClock: SyncClock {
  public init() {}
  public func milliseconds() -> Int64 { SystemClock().wallMilliseconds() }
}

/// Random UUIDs (version 4).
public struct RandomIDs: IDSource {
  public init() {}
  public func uuid() -> String { UUIDBytes.random().description }
}
