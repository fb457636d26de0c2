internal import Glibc

/// `flock` on the store's directory: one writer at a time, over processes and within one.
///
/// The lock belongs to the open file description, so a second open in the same process is refused like one in another, a process that
/// dies loses it, and no file that is deleted or left behind matters.
final class DirectoryLock: Sendable {
  private let fileSystem: any FileSystem
  private let handle: Lock<FileDescriptor?>
  /// A child that fork made has a copy of the descriptor; the lock is not its to give back.
  private let owner = getpid()

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
    guard let held else { return }
    guard getpid() == owner else { return fileSystem.closeQuietly(held) }
    // Not by closing alone: a child of another thread, between fork and exec, may hold a copy of the descriptor for a moment,
    // and the next open would find the store in use.
    do throws(Errno) { try fileSystem.unlockDirectory(held) } catch {}
  }
}
