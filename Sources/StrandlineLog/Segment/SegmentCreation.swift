/// Gives a prepared segment file its header and its name.
enum SegmentCreation {
  /// Writes and syncs the header, renames the file to its name and syncs the directory. Returns the path.
  ///
  /// - Parameter poison: turns a failure after which the name's fate is unknown into the error to throw.
  static func finish(
    _ prepared: SpaceAhead.Prepared, header: SegmentHeader, in directory: StoreDirectory,
    poison: (IOFailure) -> LogError
  ) throws(LogError) -> String {
    let temporary = directory.path(of: prepared.name.temporary)
    let path = directory.path(of: prepared.name.description)
    let fileSystem = directory.fileSystem
    let block = header.encodedBlock()
    try directory.performNeedingSpace(.write, temporary) { () throws(Errno) in
      try block.span.bytes.withUnsafeBytes { (bytes) throws(Errno) in
        try fileSystem.writeAll(prepared.file, bytes, at: 0)
      }
    }
    do throws(Errno) {
      try fileSystem.sync(prepared.file)
    } catch {
      throw poison(IOFailure(operation: .sync, path: temporary, errno: error))
    }
    do throws(LogError) {
      try directory.performNeedingSpace(.rename, path) { () throws(Errno) in
        try fileSystem.rename(temporary, to: path, replacing: false)
      }
    } catch {
      // A rename that failed otherwise may have happened all the same, and then the segment in front of it is closed.
      guard case .ioFailed(let failure) = error else { throw error }
      throw poison(failure)
    }
    do throws(Errno) {
      try fileSystem.syncDirectory(directory.path)
    } catch {
      throw poison(IOFailure(operation: .syncDirectory, path: directory.path, errno: error))
    }
    return path
  }
}
