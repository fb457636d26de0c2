internal import Glibc

/// A directory that is filled under a temporary name and there under its own once it is whole.
///
/// Errors speak of the name it was to have: the temporary one is gone when somebody reads them.
struct NewDirectory {
  /// Where it is to stand; nothing may be there.
  let target: String
  /// Where it is filled; in the same directory.
  let temporary: String
  let fileSystem: any FileSystem

  /// To be filled.
  var directory: StoreDirectory { StoreDirectory(path: temporary, fileSystem: fileSystem) }

  func begin() throws(LogError) {
    try directory.performNeedingSpace(.makeDirectory, target) { () throws(Errno) in
      try fileSystem.makeDirectory(temporary)
    }
  }

  /// Removes what there is so far, and says `error` in words for the caller.
  func abandon(_ error: LogError) -> LogError {
    do throws(Errno) { try directory.removeTree(temporary) } catch {
      // A directory under a temporary name counts for nothing.
    }
    switch error {
    case .ioFailed(let failure): return .ioFailed(named(failure))
    case .outOfSpace(let failure): return .outOfSpace(named(failure))
    default: return error
    }
  }

  /// Gives it its name. All in it is synced.
  ///
  /// - Throws: ``LogError/copyUnconfirmed(path:_:)`` if only the sync of the name failed: nothing is taken away for that.
  func finish() throws(LogError) {
    do throws(Errno) {
      try fileSystem.retryingInterrupts { () throws(Errno) in
        try fileSystem.rename(temporary, to: target, replacing: false)
      }
    } catch {
      if error.rawValue == EEXIST || error.rawValue == ENOTEMPTY { throw abandon(.targetExists(path: target)) }
      let failure = IOFailure(operation: .rename, path: target, errno: error)
      throw abandon(error.meansOutOfSpace ? .outOfSpace(failure) : .ioFailed(failure))
    }
    let parent = StoreDirectory.parent(of: target)
    do throws(Errno) {
      try fileSystem.syncDirectory(parent)
    } catch {
      throw .copyUnconfirmed(
        path: target, IOFailure(operation: .syncDirectory, path: parent, errno: error))
    }
  }

  private func named(_ failure: IOFailure) -> IOFailure {
    guard failure.path.hasPrefix(temporary) else { return failure }
    return IOFailure(
      operation: failure.operation, path: target + failure.path.dropFirst(temporary.count), errno: failure.errno)
  }
}
