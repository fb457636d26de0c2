internal import Glibc

/// Makes a store where there is none, so that a crash at any moment leaves either no store or one that opens.
///
/// The order is the point: directory, lock, META (both slots, naming no segment), then the first segment as a roll would make it. As
/// long as META is not there, nothing is, and a later open starts over.
enum StoreCreation {
  /// Makes the directory if it is not there, and syncs its entry in the parent.
  static func makeDirectory(_ directory: StoreDirectory) throws(LogError) {
    let fileSystem = directory.fileSystem
    do throws(Errno) {
      try fileSystem.retryingInterrupts { () throws(Errno) in try fileSystem.makeDirectory(directory.path) }
    } catch {
      guard error.rawValue == EEXIST else {
        let failure = IOFailure(operation: .makeDirectory, path: directory.path, errno: error)
        throw error.meansOutOfSpace ? .outOfSpace(failure) : .ioFailed(failure)
      }
      let status = try directory.perform(.status, directory.path) { () throws(Errno) in
        try fileSystem.status(at: directory.path)
      }
      // A link to a directory is fine: the lock is taken on what it leads to.
      guard status.kind != .file else {
        throw .unsupportedFormat(file: directory.path, detail: .ofFile(at: directory.path))
      }
    }
    try directory.perform(.syncDirectory, directory.parent) { () throws(Errno) in
      try fileSystem.syncDirectory(directory.parent)
    }
  }

  /// Writes META of an empty store. The lock is held.
  static func makeRoot(_ directory: StoreDirectory, environment: Environment) throws(LogError) {
    let root = RootSlot(
      identifier: StoreIdentifier(high: environment.randomBits(), low: environment.randomBits()),
      incarnation: environment.randomBits())
    let path = directory.path(of: RootSlot.fileName)
    let temporary = path + ".tmp"
    directory.discard(temporary)
    try directory.writeNew(temporary, RootFile.bytes(of: root))
    try directory.perform(.rename, path) { () throws(Errno) in
      try directory.fileSystem.rename(temporary, to: path, replacing: false)
    }
    try directory.syncEntries()
  }

  /// Makes the first segment of a store whose META names none, and lets META name it.
  static func makeFirstSegment(
    _ directory: StoreDirectory, root: RootFile, space: SpaceAhead, environment: Environment
  ) throws(LogError) -> SegmentFile {
    let prepared = try space.takePrepared(ordinal: 1)
    let header = SegmentHeader(
      identifier: root.current.identifier, ordinal: 1, id: prepared.name.id, epoch: 0, baseSequence: .zero,
      baseLSN: .zero, salt: environment.randomBits(),
      predecessor: SegmentHeader.Predecessor(id: 0, byteCount: 0, headTag: 0),
      reset: SegmentHeader.LastReset(sequence: .zero, headTag: 0),
      createdAt: environment.clock.wallMilliseconds())
    do throws(LogError) {
      let path = try SegmentCreation.finish(prepared, header: header, in: directory) { .ioFailed($0) }
      try root.write { slot in
        slot.lastCreatedOrdinal = 1
        slot.lastCreatedID = header.id
      }
      return SegmentFile(fileSystem: directory.fileSystem, file: prepared.file, path: path, header: header)
    } catch {
      space.discard(prepared)
      throw error
    }
  }
}
