/// What the log answers when it cannot do what was asked. Each case is something a caller can react to; details for people
/// travel as values.
///
/// Unless a case says otherwise nothing was written and the log goes on as before.
@nonexhaustive
public enum LogError: Error, Hashable, Sendable {
  /// There is no store at the path, and none was to be made.
  case noStore(path: String)
  /// Another opener holds the store. Readers (`.readOnly`) and the dump tool are let through.
  case locked(path: String, by: LockOwner?)
  /// Bytes that a sync had confirmed are damaged, or files that belong together do not. No byte was changed.
  case corrupt(CorruptionReport)
  /// The file was written by another format version, or uses a feature that this one does not know. No byte was changed.
  case unsupportedFormat(file: String, detail: FormatDetail)
  /// The log was opened `.readOnly`.
  case readOnly
  /// A value is larger than the format or a setting allows.
  case limitExceeded(Limit)
  /// No space. Nothing of this commit was written; later commits may succeed.
  case outOfSpace(IOFailure)
  /// An earlier sync or write failed; what it covered is in doubt, and so are `buffered` commits that were written but not
  /// yet synced. Reads go on; no more writes until the store is reopened.
  case poisoned(first: IOFailure, buffered: Int)
  /// The operating system refused. Nothing was changed by the failing call.
  case ioFailed(IOFailure)
  /// The log was closed.
  case closed
  /// The calling process is a child of the one that opened the log. Close nothing, open anew.
  case wrongProcess
  /// The history behind the position was released; the oldest commit that can be read is `first`.
  case historyTrimmed(first: SequenceNumber)
  /// A reset removed the history behind the position; `epoch` is the one in force.
  case resetSince(epoch: UInt64)
  /// The log does not hold the commit that the position names: it was put back to an older copy, or is another store.
  case historyForked(at: SequenceNumber)
  /// A reset or release removed files under a reader of another process. Open again.
  case generationGone
  /// The target of a backup, kept copy or salvage exists already.
  case targetExists(path: String)
  /// The copy that a backup, `keepCopy` or a salvage made stands whole at the path, but the last sync, of the directory that holds it,
  /// failed: whether its name survives a power cut is unknown.
  case copyUnconfirmed(path: String, IOFailure)
  /// An option is outside its range.
  case invalidOption(name: String, reason: String)
  /// Compaction worked on an epoch that a reset has ended. Its layers are left for removal.
  case epochEnded(UInt64)
  /// A commit that was to get the number `expected` did not, because one in front of it failed.
  case outOfTurn(expected: SequenceNumber, next: SequenceNumber)
  /// The caller's replay refused a record.
  case replayRefused(at: SequenceNumber, reason: String)

  public enum FormatDetail: Hashable, Sendable {
    case majorVersion(found: UInt16, supported: UInt16)
    case featureBit(Int)
    /// The bit allows reading only.
    case readOnlyFeatureBit(Int)
    case frameKind(UInt8, offset: Int64)
    case notAStore
    /// A file of a store that says nothing by itself.
    case partOfStore
    /// A symbolic link in the place of a store or file that leads to nothing.
    case brokenLink
    /// A log whose records are none that a store with tables writes.
    case withoutTables
  }
}

/// A limit of the format or of ``LogOptions``, and the value that went over it.
public struct Limit: Hashable, Sendable {
  public enum Name: String, Hashable, Sendable {
    case recordByteCount, commitByteCount, recordCount, carriedByteCount, layerCount, sequenceNumber, logByteCount
  }

  public var name: Name
  public var value: UInt64
  public var maximum: UInt64

  public init(name: Name, value: UInt64, maximum: UInt64) {
    self.name = name
    self.value = value
    self.maximum = maximum
  }
}

/// A call of the operating system that failed.
public struct IOFailure: Hashable, Sendable, CustomStringConvertible {
  public enum Operation: String, Hashable, Sendable {
    case open, close, read, write, sync, syncDirectory, truncate, allocate, rename, unlink, link, makeDirectory, list,
      status, lock, startThread
  }

  public var operation: Operation
  public var path: String
  public var errno: Errno

  public init(operation: Operation, path: String, errno: Errno) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  public var description: String {
    if operation == .makeDirectory, errno == .noSuchFile {
      let parent = StoreDirectory.parent(of: path)
      return "\(parent): no such directory, and \(path) cannot be made without it"
    }
    if errno == .staleFile { return "\(path): was moved, replaced or removed while the store was open" }
    return "\(path): \(operation.words) failed: \(errno)"
  }
}

extension IOFailure.Operation {
  /// For people.
  @_spi(Engine) public var words: String {
    switch self {
    case .open, .close, .read, .write, .sync, .truncate, .rename, .unlink, .link: rawValue
    case .syncDirectory: "sync of the directory"
    case .allocate: "allocation of space"
    case .makeDirectory: "making the directory"
    case .list: "listing the directory"
    case .status: "looking it up"
    case .lock: "locking it"
    case .startThread: "starting a thread"
    }
  }
}

/// Who holds a store, as the owner wrote it down. For people: a stale file blocks nobody.
public struct LockOwner: Hashable, Sendable {
  public var processID: Int32
  public var host: String
  public var bootID: String
  /// Seconds since 1970.
  public var since: Int64

  public init(processID: Int32, host: String, bootID: String, since: Int64) {
    self.processID = processID
    self.host = host
    self.bootID = bootID
    self.since = since
  }
}

/// Damage to bytes that must be there: where, what was expected, what was found, and what else is known.
public struct CorruptionReport: Hashable, Sendable {
  public enum Reason: String, Hashable, Sendable {
    /// META: neither slot verifies, or it has the wrong size.
    case rootDamaged
    /// META is missing beside segments or layers.
    case rootMissing
    /// A directory, a link, a FIFO or a device stands in the place of a file.
    case notAFile
    /// META names an epoch or a RESET that the log does not have.
    case logOlderThanRoot
    /// A segment in the chain is missing.
    case segmentMissing
    /// Neither copy of a segment's header verifies, or it is another store's, or not the one its name says.
    case segmentHeaderDamaged
    /// A segment's header does not continue the segment in front of it.
    case chainBroken
    /// A closed segment ends early, late, or with another tag than its successor names.
    case closedSegmentDamaged
    /// The file ends before bytes that a sync had confirmed.
    case fileTruncated
    /// A frame that a sync had confirmed does not verify.
    case frameDamaged
    /// The store was closed cleanly and its last frame is not the one that was last then.
    case tailLost
    /// The anchor does not name the frame it says.
    case anchorMismatch
    /// A layer that META names is missing or has another size.
    case layerDamaged
  }

  public var reason: Reason
  /// Absolute path.
  public var file: String
  /// Byte in the file, where it is known.
  public var offset: Int64?
  public var expected: String
  public var found: String
  /// Whether turning one bit back would make what is damaged verify: the frame's header or body, a copy of the segment's header, a
  /// slot of META. It tells rot from bytes that were never written. Nil where that was not tried: bodies above 16 KiB, bytes that are
  /// missing, files that do not belong together.
  public var isSingleBit: Bool?
  /// How many frames behind the damage verify; nil where that was not counted.
  public var laterFrameCount: Int?

  public init(
    reason: Reason, file: String, offset: Int64? = nil, expected: String, found: String, isSingleBit: Bool? = nil,
    laterFrameCount: Int? = nil
  ) {
    self.reason = reason
    self.file = file
    self.offset = offset
    self.expected = expected
    self.found = found
    self.isSingleBit = isSingleBit
    self.laterFrameCount = laterFrameCount
  }
}
