/// How a log is opened and run. Checked at open; a value outside its range is ``LogError/invalidOption(name:reason:)``.
public struct LogOptions: Sendable {
  /// Whether the log is opened for writing. Default `.readWrite`.
  public enum Access: Hashable, Sendable {
    /// One opener at a time. Makes the store if there is none, unless ``LogOptions/createsIfMissing`` is off.
    case readWrite
    /// Takes no lock and writes nothing. The tail it sees may not be durable.
    case readOnly
  }

  /// Who does the work that no caller waits for: growing the segment, timed syncs, groups of async commits.
  public enum Helpers: Hashable, Sendable {
    /// Two threads of the log's own.
    case threads
    /// No threads: the calls that find such work to do it themselves. A timed sync then happens at the next call only.
    case callerRuns
  }

  public var access: Access = .readWrite
  /// Whether a writable open makes a store where there is none. Default on; off answers ``LogError/noStore(path:)``.
  public var createsIfMissing = true

  /// Bytes of frames after which the next commit begins a new segment. Default 64 MiB, at least 4 KiB, at most 64 GiB.
  /// Larger segments mean fewer files, and space is given back in larger steps.
  public var segmentByteCountMax = 64 << 20
  /// How far the active segment is filled with zeros ahead of the tail. Default 1 MiB, at least 64 KiB, at most 1 GiB.
  /// Large groups of commits keep more; `close()` gives back what is beyond it.
  public var spaceAheadByteCount = 1 << 20
  /// The largest commit, in bytes of its records as stored. Default and maximum 1 GiB, at least 1 KiB. A commit is held in
  /// memory until it is written.
  public var commitByteCountMax = 1 << 30
  /// A `.buffered` commit is synced at the latest after this. Default 100 ms, at least 1 ms.
  public var bufferedSyncInterval: Duration = .milliseconds(100)
  /// A pause of this length after the last commit is marked in the log, so that damage to that commit is known from a
  /// torn write. Default 1 s, at least 10 ms; nil writes no marks.
  public var idleMarkInterval: Duration? = .seconds(1)
  /// Each group of commits begins on a fresh 4 KiB block. For devices that may damage the rest of a block they rewrite. Default off;
  /// costs about 4 KiB a group.
  public var alignsCommits = false
  /// Whether frames from 4 KiB up are compressed. Default on.
  public var compresses = true
  /// Threads that verify and decode while the log is replayed, the caller's included. 1 to 256; default: one a processor, at most 8.
  /// Each holds up to two units of about 3 MiB.
  public var replayThreadCount: Int?
  /// Default `.threads`.
  public var helpers: Helpers = .threads
  /// Called when something happens that an operator may want to see. On any thread; must not call the log back.
  public var observer: (@Sendable (LogEvent) -> Void)?
  /// The disk, the clocks and chance. Default: the machine's own.
  public var environment: Environment = .system

  /// The defaults.
  public init() {}

  func checked() throws(LogError) -> LogOptions {
    func require(_ isFine: Bool, _ name: String, _ range: String) throws(LogError) {
      guard isFine else { throw .invalidOption(name: name, reason: "must be \(range)") }
    }
    try require((4 << 10...64 << 30).contains(segmentByteCountMax), "segmentByteCountMax", "4 KiB to 64 GiB")
    try require((64 << 10...1 << 30).contains(spaceAheadByteCount), "spaceAheadByteCount", "64 KiB to 1 GiB")
    try require((1 << 10...1 << 30).contains(commitByteCountMax), "commitByteCountMax", "1 KiB to 1 GiB")
    try require(bufferedSyncInterval >= .milliseconds(1), "bufferedSyncInterval", "1 ms or more")
    try require((idleMarkInterval ?? .seconds(1)) >= .milliseconds(10), "idleMarkInterval", "10 ms or more")
    try require((1...256).contains(replayThreadCount ?? 1), "replayThreadCount", "1 to 256")
    return self
  }
}

/// When a commit counts as written.
public enum Durability: Hashable, Sendable {
  /// It survives power loss when the call returns: one `fdatasync`, shared by all who wait.
  case synced
  /// It survives the end of the process when the call returns, and power loss after the next sync, at the latest after
  /// ``LogOptions/bufferedSyncInterval``.
  case buffered
}

/// Something an operator may want to see.
@nonexhaustive
public enum LogEvent: Hashable, Sendable {
  /// One of META's slots did not verify; the other was used.
  case rootSlotDamaged(slot: Int)
  /// One copy of a segment's header did not verify; the other was used.
  case headerCopyDamaged(file: String)
  /// A torn tail was cut at open.
  case tailCut(file: String, byteCount: Int64)
  /// The log was reset.
  case reset(epoch: UInt64)
  /// A group of commits was written; `syncNanoseconds` is 0 where no sync was due.
  case groupWritten(commitCount: Int, byteCount: Int, syncNanoseconds: UInt64)
  /// A commit waited for space ahead of the tail.
  case spaceAwaited(nanoseconds: UInt64)
  case outOfSpace(IOFailure)
  case poisoned(IOFailure)
  /// Files could not be removed; they are tried again at the next open.
  case leftOver(file: String, IOFailure)
  /// Locks, syncs or `reset()` on a full disk may not hold on this kind of file system.
  case fileSystemWarning(FileSystemKind)
}
