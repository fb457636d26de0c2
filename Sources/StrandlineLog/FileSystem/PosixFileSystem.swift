internal import CStrandline
internal import Glibc

/// The disk, through Glibc. Stateless; every method is one system call or, for directories, one call between an open
/// and a close.
public struct PosixFileSystem: FileSystem {
  public init() {}

  public func open(_ path: String, _ access: FileAccess) throws(Errno) -> FileDescriptor {
    let flags: Int32 =
      switch access {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .create: O_RDWR | O_CREAT | O_EXCL
      }
    // O_NONBLOCK: a FIFO put in a file's place answers at once instead of waiting for a writer for ever.
    let descriptor = Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
    guard descriptor >= 0 else { throw .current }
    return FileDescriptor(descriptor)
  }

  public func close(_ file: FileDescriptor) throws(Errno) {
    guard Glibc.close(file.rawValue) == 0 else { throw .current }
  }

  public func read(
    _ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    let count = pread(file.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
    guard count >= 0 else { throw .current }
    return count
  }

  public func write(
    _ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    let count = pwrite(file.rawValue, bytes.baseAddress, bytes.count, off_t(offset))
    guard count >= 0 else { throw .current }
    return count
  }

  public func syncData(_ file: FileDescriptor) throws(Errno) {
    guard fdatasync(file.rawValue) == 0 else { throw .current }
  }

  public func sync(_ file: FileDescriptor) throws(Errno) {
    guard fsync(file.rawValue) == 0 else { throw .current }
  }

  public func truncate(_ file: FileDescriptor, to byteCount: Int64) throws(Errno) {
    guard ftruncate(file.rawValue, off_t(byteCount)) == 0 else { throw .current }
  }

  public func allocate(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno) {
    guard strandline_fallocate(file.rawValue, range.lowerBound, range.upperBound - range.lowerBound) == 0
    else { throw .current }
  }

  public func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(Errno) {
    guard strandline_clone(target.rawValue, source.rawValue) == 0 else { throw .current }
  }

  public func dropCache(_ file: FileDescriptor, from offset: Int64) throws(Errno) {
    let failure = posix_fadvise(file.rawValue, off_t(offset), 0, POSIX_FADV_DONTNEED)
    guard failure == 0 else { throw Errno(failure) }
  }

  public func nextData(_ file: FileDescriptor, from offset: Int64) throws(Errno) -> Int64? {
    let next = strandline_next_data(file.rawValue, offset)
    if next >= 0 { return next }
    // ENXIO: there is nothing up to the end of the file.
    guard errno == ENXIO else { throw .current }
    return nil
  }

  public func status(_ file: FileDescriptor) throws(Errno) -> FileStatus {
    var status = stat()
    guard fstat(file.rawValue, &status) == 0 else { throw .current }
    return FileStatus(status)
  }

  public func status(at path: String) throws(Errno) -> FileStatus {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .current }
    return FileStatus(status)
  }

  public func makeDirectory(_ path: String) throws(Errno) {
    guard mkdir(path, 0o755) == 0 else { throw .current }
  }

  public func removeDirectory(_ path: String) throws(Errno) {
    guard rmdir(path) == 0 else { throw .current }
  }

  public func unlink(_ path: String) throws(Errno) {
    guard Glibc.unlink(path) == 0 else { throw .current }
  }

  public func link(_ existing: String, to new: String) throws(Errno) {
    guard Glibc.link(existing, new) == 0 else { throw .current }
  }

  public func rename(_ old: String, to new: String, replacing: Bool) throws(Errno) {
    let result = replacing ? Glibc.rename(old, new) : strandline_rename_noreplace(old, new)
    guard result == 0 else { throw .current }
  }

  public func list(_ path: String) throws(Errno) -> [String] {
    guard let directory = opendir(path) else { throw .current }
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        let failure = Errno.current
        if failure.rawValue != 0 { throw failure }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != "." && name != ".." { names.append(name) }
    }
  }

  public func syncDirectory(_ path: String) throws(Errno) {
    let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw .current }
    defer { _ = Glibc.close(directory) }
    guard fsync(directory) == 0 else { throw .current }
  }

  public func lockDirectory(_ path: String) throws(Errno) -> FileDescriptor {
    let directory = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw .current }
    guard flock(directory, LOCK_EX | LOCK_NB) == 0 else {
      let failure = Errno.current
      _ = Glibc.close(directory)
      throw failure
    }
    return FileDescriptor(directory)
  }

  public func unlockDirectory(_ directory: FileDescriptor) throws(Errno) {
    _ = flock(directory.rawValue, LOCK_UN)
    try close(directory)
  }

  public func kind(of path: String) throws(Errno) -> FileSystemKind {
    let type = strandline_file_system_type(path)
    guard type >= 0 else { throw .current }
    switch type {
    case 0x9123_683E, 0xCA45_1A4E, 0x2FC1_2FC1, 0x6274_7273: return .copyOnWrite  // Btrfs, bcachefs, ZFS
    case 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x0102_1997, 0x6573_5546: return .network  // NFS, SMB, 9p, FUSE
    case 0x0102_1994, 0x8584_58F6: return .memory  // tmpfs, ramfs
    default: return .inPlace
    }
  }

  public func freeByteCount(at path: String) throws(Errno) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw .current }
    let (count, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflow ? .max : Int64(clamping: count)
  }
}

extension FileStatus {
  fileprivate init(_ status: stat) {
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      default: .other
      }
    self.init(
      kind: kind, byteCount: Int64(status.st_size), linkCount: UInt64(status.st_nlink),
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}
