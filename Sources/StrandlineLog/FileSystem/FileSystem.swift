/// The one seam between the log and the disk.
///
/// Every method is one call of the operating system with the meaning POSIX gives it: reads and writes may be short,
/// any call may answer `EINTR`, nothing is retried and nothing is synced that was not asked for. What turns these calls
/// into promises (loops, splits, order of syncs) lies above, in `writeAll(_:_:at:)` and its neighbours,
/// so that a file system which fails, forgets or records on purpose tests the promises too.
///
/// Paths are absolute. Implementations are called from several threads at once.
public protocol FileSystem: Sendable {
  /// Opens a regular file. Never follows a symbolic link at the last component, never inherits across `exec`.
  func open(_ path: String, _ access: FileAccess) throws(Errno) -> FileDescriptor
  func close(_ file: FileDescriptor) throws(Errno)

  /// `pread`: at most `buffer.count` bytes from `offset`; 0 at the end of the file.
  func read(
    _ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int
  /// `pwrite`: at most `bytes.count` bytes at `offset`; the count that was taken.
  func write(
    _ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int

  /// `fdatasync`: contents and the size that is needed to read them.
  func syncData(_ file: FileDescriptor) throws(Errno)
  /// `fsync`: contents and all metadata.
  func sync(_ file: FileDescriptor) throws(Errno)
  /// `ftruncate`: a shorter file loses its end, a longer one gains zeros.
  func truncate(_ file: FileDescriptor, to byteCount: Int64) throws(Errno)
  /// `fallocate`: reserves space and grows the file so that `range` reads as zeros where nothing was written.
  func allocate(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno)
  /// `FICLONE`: makes the empty file `target` share the bytes of `source`; `EOPNOTSUPP` where it cannot.
  func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(Errno)
  /// `posix_fadvise(POSIX_FADV_DONTNEED)`: the next read from `offset` on asks the device again. A hint.
  func dropCache(_ file: FileDescriptor, from offset: Int64) throws(Errno)

  /// `SEEK_DATA`: the first offset from `offset` on where the file may hold something, nil if it holds nothing up to its end. What is
  /// passed over reads as zeros. Where the file system cannot tell, ``read(_:into:at:)`` has to: the answer is `offset`, and that is the
  /// implementation unless there is another.
  func nextData(_ file: FileDescriptor, from offset: Int64) throws(Errno) -> Int64?

  func status(_ file: FileDescriptor) throws(Errno) -> FileStatus
  /// `lstat`: does not follow a symbolic link at the last component.
  func status(at path: String) throws(Errno) -> FileStatus

  func makeDirectory(_ path: String) throws(Errno)
  func removeDirectory(_ path: String) throws(Errno)
  func unlink(_ path: String) throws(Errno)
  func link(_ existing: String, to new: String) throws(Errno)
  /// Renames; with `replacing: false` an existing `new` is `EEXIST` and stays.
  func rename(_ old: String, to new: String, replacing: Bool) throws(Errno)
  /// Names in a directory without `.` and `..`, in no order.
  func list(_ path: String) throws(Errno) -> [String]
  /// Opens the directory, `fsync`s it and closes it: entries made, renamed or removed in it survive power loss.
  func syncDirectory(_ path: String) throws(Errno)

  /// Opens a directory and takes `flock(LOCK_EX | LOCK_NB)` on it; `EWOULDBLOCK` while someone else holds it.
  /// Closing the last copy of the descriptor gives it back, and so does ``unlockDirectory(_:)``.
  func lockDirectory(_ path: String) throws(Errno) -> FileDescriptor
  /// Gives the lock back and closes, whoever else has a copy of the descriptor. Where descriptors cannot be copied ``close(_:)``
  /// does that, and is the implementation unless there is another.
  func unlockDirectory(_ directory: FileDescriptor) throws(Errno)
  /// Whether someone holds the lock of ``lockDirectory(_:)``, found out without taking it. Throws where that cannot be told.
  func isDirectoryLocked(_ path: String) throws(Errno) -> Bool
  /// What kind of file system holds `path`, for warnings.
  func kind(of path: String) throws(Errno) -> FileSystemKind
  /// `statvfs`: bytes that this process may still allocate on the file system of `path`. Nil where that cannot be told, and that is the
  /// implementation unless there is another.
  func freeByteCount(at path: String) throws(Errno) -> Int64?
}

extension FileSystem {
  public func nextData(_ file: FileDescriptor, from offset: Int64) throws(Errno) -> Int64? { offset }
  public func unlockDirectory(_ directory: FileDescriptor) throws(Errno) { try close(directory) }
  public func freeByteCount(at path: String) throws(Errno) -> Int64? { nil }
}

/// An open file or directory. One owner closes it, once.
public struct FileDescriptor: Hashable, Sendable {
  public let rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// How ``FileSystem/open(_:_:)`` opens.
public enum FileAccess: Hashable, Sendable {
  /// Existing file, for reading.
  case read
  /// Existing file, for reading and writing.
  case readWrite
  /// New file, for reading and writing; `EEXIST` if there is one.
  case create
}

/// What `fstat` tells that the log asks for.
public struct FileStatus: Hashable, Sendable {
  public enum Kind: Hashable, Sendable { case file, directory, other }

  public var kind: Kind
  public var byteCount: Int64
  /// Number of names the file has; 0 once the last was unlinked.
  public var linkCount: UInt64
  public var device: UInt64
  public var inode: UInt64

  public init(kind: Kind, byteCount: Int64, linkCount: UInt64, device: UInt64, inode: UInt64) {
    self.kind = kind
    self.byteCount = byteCount
    self.linkCount = linkCount
    self.device = device
    self.inode = inode
  }
}

/// File systems that change what the log can promise.
public enum FileSystemKind: Hashable, Sendable {
  /// Overwrites in place: ext4, XFS and the like.
  case inPlace
  /// Overwriting needs new space (Btrfs, bcachefs, ZFS, overlay on unknown ground): `reset()` may fail on a full disk.
  case copyOnWrite
  /// NFS, SMB, 9p, FUSE: locks and syncs depend on a server; the log warns.
  case network
  /// Nothing survives power loss.
  case memory
}
