/// META on disk: both slots, read and written in turn.
final class RootFile {
  private let directory: StoreDirectory
  private let file: FileDescriptor
  private let identity: FileStatus
  private(set) var current: RootSlot
  /// The slot that was not whole when the file was opened, if one was not.
  let damagedSlot: Int?
  /// Either slot alone leads to the same files. Until it does nothing that the older one names may be removed.
  private(set) var slotsAgree: Bool

  /// What stands in META.
  struct Reading {
    var slots: [Result<RootSlot, RootSlot.Defect>]
    /// The newest slot that is whole.
    var newest: RootSlot
    /// The slot that is not, if one is not.
    var damagedSlot: Int?

    var slotsAgree: Bool {
      guard case .success(let even) = slots[0], case .success(let odd) = slots[1] else { return false }
      return even.namesSameFiles(as: odd)
    }
  }

  private init(directory: StoreDirectory, file: FileDescriptor, identity: FileStatus, reading: Reading) {
    self.directory = directory
    self.file = file
    self.identity = identity
    current = reading.newest
    damagedSlot = reading.damagedSlot
    slotsAgree = reading.slotsAgree
  }

  /// Opens META and decides which slot counts.
  ///
  /// A writer acts on what it reads here, so the slots are settled first: synced and read again from the device. The
  /// process before may have died between writing a slot and syncing it, or after a sync that failed and left its page
  /// marked clean; a power cut would then bring an older root back under what was done on the strength of the newer.
  static func open(_ directory: StoreDirectory, for access: FileAccess) throws(LogError) -> RootFile {
    let path = directory.path(of: RootSlot.fileName)
    let file: FileDescriptor
    do throws(Errno) {
      file = try directory.fileSystem.openRetrying(path, access)
    } catch {
      // A directory or a link in META's place is no root; everything else is the system's refusal.
      guard error.meansNoRegularFile else {
        throw .ioFailed(IOFailure(operation: .open, path: path, errno: error))
      }
      throw notAFile(path)
    }
    do throws(LogError) {
      let identity = try status(of: file, in: directory)
      guard identity.kind == .file else { throw notAFile(path) }
      if access != .read { try settle(file, in: directory) }
      let reading = try read(file, in: directory)
      return RootFile(directory: directory, file: file, identity: identity, reading: reading)
    } catch {
      directory.fileSystem.closeQuietly(file)
      throw error
    }
  }

  deinit { directory.fileSystem.closeQuietly(file) }

  private static func status(of file: FileDescriptor, in directory: StoreDirectory) throws(LogError) -> FileStatus {
    try directory.perform(.status, directory.path(of: RootSlot.fileName)) { () throws(Errno) in
      try directory.fileSystem.status(file)
    }
  }

  private static func settle(_ file: FileDescriptor, in directory: StoreDirectory) throws(LogError) {
    let path = directory.path(of: RootSlot.fileName)
    try directory.perform(.sync, path) { () throws(Errno) in try directory.fileSystem.syncData(file) }
    try directory.perform(.read, path) { () throws(Errno) in try directory.fileSystem.dropCache(file, from: 0) }
  }

  static func notAFile(_ path: String) -> LogError {
    .corrupt(
      CorruptionReport(
        reason: .notAFile, file: path, expected: "META, a file of \(RootSlot.fileByteCount) bytes",
        found: "no regular file"))
  }

  static func read(_ file: FileDescriptor, in directory: StoreDirectory) throws(LogError) -> Reading {
    let path = directory.path(of: RootSlot.fileName)
    let status = try status(of: file, in: directory)
    guard status.byteCount == Int64(RootSlot.fileByteCount) else {
      throw .corrupt(
        CorruptionReport(
          reason: .rootDamaged, file: path, expected: "a file of \(RootSlot.fileByteCount) bytes",
          found: "\(status.byteCount) bytes"))
    }
    let bytes = try directory.perform(.read, path) { () throws(Errno) in
      try directory.fileSystem.readBytes(file, at: 0, byteCount: RootSlot.fileByteCount)
    }
    return try reading(of: bytes, path: path)
  }

  /// Refuses a root that this version may read and must not write.
  static func refuseIfReadOnly(_ root: RootSlot, in directory: StoreDirectory) throws(LogError) {
    guard
      let bit = FormatVersion.firstUnknownBit(
        root.readOnlyCompatibleBits, known: FormatVersion.knownReadOnlyCompatibleBits)
    else { return }
    throw .unsupportedFormat(file: directory.path(of: RootSlot.fileName), detail: .readOnlyFeatureBit(bit))
  }

  /// Decides between the slots. A slot that is whole but of another version refuses the store: it is never passed over for
  /// an older one.
  static func reading(of bytes: [UInt8], path: String) throws(LogError) -> Reading {
    let slots = (0..<2).map { number in
      bytes.withUnsafeBytes { buffer in
        Result { () throws(RootSlot.Defect) in
          let start = number * RootSlot.byteCount
          let end = min(buffer.count, start + RootSlot.byteCount)
          return try RootSlot(
            decoding: UnsafeRawBufferPointer(rebasing: buffer[min(start, end)..<end]), slotNumber: number)
        }
      }
    }
    for slot in slots {
      guard case .failure(let defect) = slot else { continue }
      switch defect {
      case .notARoot: throw .unsupportedFormat(file: path, detail: .notAStore)
      case .unsupportedMajor(let found):
        throw .unsupportedFormat(file: path, detail: .majorVersion(found: found, supported: FormatVersion.major))
      case .unknownIncompatibleBit(let bit): throw .unsupportedFormat(file: path, detail: .featureBit(bit))
      case .wrongLength, .tagMismatch, .fieldOutOfRange: continue
      }
    }
    switch (slots[0], slots[1]) {
    case (.success(let even), .success(let odd)):
      let isPair =
        even.identifier == odd.identifier && even.incarnation == odd.incarnation
        && max(even.revision, odd.revision) - min(even.revision, odd.revision) == 1
      guard isPair else {
        throw .corrupt(
          CorruptionReport(
            reason: .rootDamaged, file: path, offset: 0, expected: "two slots of one store, one revision apart",
            found: "revisions \(even.revision) and \(odd.revision) of \(even.identifier) and \(odd.identifier)"))
      }
      return Reading(slots: slots, newest: even.revision > odd.revision ? even : odd, damagedSlot: nil)
    case (.success(let even), .failure):
      return Reading(slots: slots, newest: even, damagedSlot: 1)
    case (.failure, .success(let odd)):
      return Reading(slots: slots, newest: odd, damagedSlot: 0)
    case (.failure(let even), .failure(let odd)):
      throw .corrupt(
        CorruptionReport(
          reason: .rootDamaged, file: path, offset: 0, expected: "one whole slot of two", found: "\(even), \(odd)",
          isSingleBit: SingleBit.explains(rootFile: bytes)))
    }
  }

  /// Replaces the older slot by `change` applied to the newest, and syncs it.
  ///
  /// - Throws: ``LogError/ioFailed(_:)``, after which it is unknown which of the two roots stands; the caller poisons the log.
  func write(_ change: (inout RootSlot) -> Void = { _ in }) throws(LogError) {
    try checkIdentity()
    var next = current
    change(&next)
    next.revision += 1
    let path = directory.path(of: RootSlot.fileName)
    let bytes = next.encoded()
    let offset = Int64(next.slotNumber * RootSlot.byteCount)
    try directory.perform(.write, path) { () throws(Errno) in
      try bytes.span.bytes.withUnsafeBytes { (buffer) throws(Errno) in
        try directory.fileSystem.writeAll(file, buffer, at: offset)
      }
    }
    try directory.perform(.sync, path) { () throws(Errno) in try directory.fileSystem.syncData(file) }
    slotsAgree = next.namesSameFiles(as: current)
    current = next
  }

  /// As `write`, to both slots, one synced after the other: afterwards damage to either leaves the same root. What the old
  /// root named may be removed only then.
  func writeBoth(_ change: (inout RootSlot) -> Void) throws(LogError) {
    try write(change)
    try write()
  }

  /// Notices that META was unlinked, replaced or moved away under us: writes would go into a file nobody finds.
  private func checkIdentity() throws(LogError) {
    let path = directory.path(of: RootSlot.fileName)
    let named = try directory.perform(.status, path) { () throws(Errno) in
      try directory.fileSystem.statusIfPresent(at: path)
    }
    guard let named, named.device == identity.device, named.inode == identity.inode else {
      throw .ioFailed(IOFailure(operation: .status, path: path, errno: .staleFile))
    }
  }

  /// The bytes of a META with `root` in both slots.
  static func bytes(of root: RootSlot) -> [UInt8] {
    var even = root
    even.revision = 0
    var odd = root
    odd.revision = 1
    return even.encoded() + odd.encoded()
  }
}
