internal import Glibc

/// `flock` on the store's directory: one writer at a time, over processes and within one.
///
/// The lock belongs to the open file description, so a second open in the same process is refused like one in another, a process that
/// dies loses it, and no file that is deleted or left behind matters.
final class DirectoryLock: Sendable {
  private let fileSystem: any FileSystem
  private let handle: Lock<FileDescriptor?>

  init(_ directory: StoreDirectory) throws(LogError) {
    fileSystem = directory.fileSystem
    do throws(Errno) {
      handle = Lock(
        try directory.fileSystem.retryingInterrupts { () throws(Errno) in
          try directory.fileSystem.lockDirectory(directory.path)
        })
    } catch {
      guard error.rawValue == EWOULDBLOCK else {
        throw .ioFailed(IOFailure(operation: .lock, path: directory.path, errno: error))
      }
      throw .locked(path: directory.path, by: LockFile.read(in: directory))
    }
  }

  deinit { release() }

  /// Gives the lock back. Does nothing the second time.
  func release() {
    let held = handle.withLock { handle in
      defer { handle = nil }
      return handle
    }
    if let held { fileSystem.closeQuietly(held) }
  }
}
