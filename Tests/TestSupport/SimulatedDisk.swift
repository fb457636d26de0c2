internal import Glibc
public import StrandlineLog

/// A disk in memory that loses what was not synced.
///
/// The mounted form of a ``DiskImage``: it adds what ends with the machine or the process, open descriptors and locks.
/// Every call has the meaning that ``FileSystem`` gives it and fails as Linux does on misuse; descriptor numbers are
/// never used twice, so a use after close is always seen.
///
/// Two things it is stricter in than most file systems: a name survives only by a sync of its directory, and a rename
/// between directories is refused (`EXDEV`).
public final class SimulatedDisk: FileSystem, LosesDirtyBlocks {
  fileprivate struct OpenFile {
    let inode: UInt64
    let isWritable: Bool
  }

  fileprivate struct State {
    var image: DiskImage
    var descriptors: [Int32: OpenFile] = [:]
    var nextDescriptor: Int32 = 3
    /// Directory to the descriptor whose lock it carries.
    var locks: [UInt64: Int32] = [:]
    var freeByteCount: Int64?
  }

  private static let nextDevice = TestLock<UInt64>(1)

  private let state: TestLock<State>
  private let device: UInt64
  private let reportedKind: FileSystemKind
  private let canClone: Bool

  /// Mounts `image`: no descriptor is open, no lock is held, and the device number is a new one, so that nothing in this
  /// process takes it for a disk it knows.
  ///
  /// - Parameters:
  ///   - kind: what ``FileSystem/kind(of:)`` answers.
  ///   - canClone: whether ``FileSystem/clone(_:to:)`` works. Default off, as on ext4.
  public init(_ image: DiskImage = DiskImage(), kind: FileSystemKind = .inPlace, canClone: Bool = false) {
    state = TestLock(State(image: image))
    device = Self.nextDevice.withLock {
      $0 += 1
      return $0
    }
    reportedKind = kind
    self.canClone = canClone
  }

  /// The disk as it is now, pending changes included. A copy.
  public var image: DiskImage { state.withLock { $0.image } }

  /// Changes the disk under the feet of whoever has it open.
  public func edit<Result>(_ change: (inout DiskImage) -> Result) -> Result {
    state.withLock { change(&$0.image) }
  }

  /// What ``FileSystem/freeByteCount(at:)`` answers from now on. Writes are not held to it.
  public func setFreeByteCount(_ count: Int64?) { state.withLock { $0.freeByteCount = count } }

  /// The disk after the process that uses it has died: all that was written is there, descriptors and locks are gone,
  /// and what was not synced may still be lost.
  public func kill() -> SimulatedDisk { remounted(image) }

  /// The disk after a power cut.
  public func powerLoss(keeping policy: PowerLossPolicy) -> SimulatedDisk {
    remounted(image.powerLoss(keeping: policy))
  }

  private func remounted(_ image: DiskImage) -> SimulatedDisk {
    SimulatedDisk(image, kind: reportedKind, canClone: canClone)
  }

  /// How many changes a power cut could lose.
  public var pendingAtomCount: Int { image.pendingAtoms.count }

  /// Descriptors that were opened and not closed.
  public var openDescriptorCount: Int { state.withLock { $0.descriptors.count } }

  public func failSync(descriptor: Int32, losing loss: SyncLoss) {
    state.withLock { state in
      guard let open = state.descriptors[descriptor] else { return }
      state.image.failSync(open.inode, losing: loss)
    }
  }

  // MARK: Files

  public func open(_ path: String, _ access: FileAccess) throws(Errno) -> FileDescriptor {
    try state.withLock { state throws(Errno) in
      switch access {
      case .create:
        let place = try state.image.place(path)
        guard state.image.inode(place.directory).entries[place.name] == nil else { throw Errno(EEXIST) }
        let number = state.image.makeInode(.file)
        state.image.setName(place.name, in: place.directory, to: number)
        return state.add(OpenFile(inode: number, isWritable: true))
      case .read, .readWrite:
        let number = try state.image.find(path)
        switch state.image.inode(number).kind {
        case .symbolicLink: throw Errno(ELOOP)
        case .directory where access == .readWrite: throw Errno(EISDIR)
        case .directory, .file, .fifo: break
        }
        return state.add(OpenFile(inode: number, isWritable: access == .readWrite))
      }
    }
  }

  public func close(_ file: FileDescriptor) throws(Errno) {
    try state.withLock { state throws(Errno) in
      guard let open = state.descriptors.removeValue(forKey: file.rawValue) else { throw Errno(EBADF) }
      if state.locks[open.inode] == file.rawValue { state.locks[open.inode] = nil }
      if state.image.inode(open.inode).linkCount == 0 { state.collect() }
    }
  }

  public func read(
    _ file: FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    try state.withLock { state throws(Errno) in
      let number = try state.inode(file)
      guard offset >= 0 else { throw Errno(EINVAL) }
      switch state.image.inode(number).kind {
      case .file: return state.image.inode(number).content.read(into: buffer, at: offset)
      case .directory: throw Errno(EISDIR)
      case .fifo, .symbolicLink: throw Errno(ESPIPE)
      }
    }
  }

  public func write(
    _ file: FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    try state.withLock { state throws(Errno) in
      let number = try state.writableFile(file)
      guard offset >= 0 else { throw Errno(EINVAL) }
      return try state.image.write(number, bytes, at: offset)
    }
  }

  public func syncData(_ file: FileDescriptor) throws(Errno) { try sync(file) }

  public func sync(_ file: FileDescriptor) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let number = try state.inode(file)
      guard state.image.inode(number).kind != .fifo else { throw Errno(EINVAL) }
      state.image.sync(number)
    }
  }

  public func truncate(_ file: FileDescriptor, to byteCount: Int64) throws(Errno) {
    try state.withLock { state throws(Errno) in
      // Linux answers EINVAL, not EBADF, for a descriptor that may only read.
      let number = try state.writableFile(file, otherwise: EINVAL)
      guard byteCount >= 0 else { throw Errno(EINVAL) }
      state.image.resize(number, to: byteCount)
    }
  }

  public func allocate(_ file: FileDescriptor, _ range: Range<Int64>) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let number = try state.writableFile(file)
      try state.image.allocate(number, range)
    }
  }

  public func clone(_ source: FileDescriptor, to target: FileDescriptor) throws(Errno) {
    try state.withLock { state throws(Errno) in
      guard canClone else { throw Errno(EOPNOTSUPP) }
      let from = try state.inode(source)
      let to = try state.writableFile(target)
      guard state.image.inode(from).kind == .file, state.image.inode(to).content.byteCount == 0 else {
        throw Errno(EINVAL)
      }
      state.image.clone(from, to: to)
    }
  }

  public func dropCache(_ file: FileDescriptor, from offset: Int64) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let number = try state.inode(file)
      state.image.dropCache(number, from: offset)
    }
  }

  public func status(_ file: FileDescriptor) throws(Errno) -> FileStatus {
    try state.withLock { state throws(Errno) in status(of: try state.inode(file), in: state.image) }
  }

  public func status(at path: String) throws(Errno) -> FileStatus {
    try state.withLock { state throws(Errno) in status(of: try state.image.find(path), in: state.image) }
  }

  private func status(of number: UInt64, in image: DiskImage) -> FileStatus {
    let inode = image.inode(number)
    let kind: FileStatus.Kind =
      switch inode.kind {
      case .file: .file
      case .directory: .directory
      case .fifo, .symbolicLink: .other
      }
    return FileStatus(
      kind: kind, byteCount: inode.content.byteCount, linkCount: inode.linkCount, device: device, inode: number)
  }

  // MARK: Names

  public func makeDirectory(_ path: String) throws(Errno) {
    try state.withLock { state throws(Errno) in
      guard !DiskImage.components(path).isEmpty else { throw Errno(EEXIST) }
      let place = try state.image.place(path)
      guard state.image.inode(place.directory).entries[place.name] == nil else { throw Errno(EEXIST) }
      let number = state.image.makeInode(.directory)
      state.image.setName(place.name, in: place.directory, to: number)
    }
  }

  public func removeDirectory(_ path: String) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let place = try state.image.place(path)
      let number = try state.image.findDirectory(path)
      guard state.image.inode(number).entries.isEmpty else { throw Errno(ENOTEMPTY) }
      state.image.setName(place.name, in: place.directory, to: nil)
      state.collect()
    }
  }

  public func unlink(_ path: String) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let place = try state.image.place(path)
      let number = try state.image.find(path)
      guard state.image.inode(number).kind != .directory else { throw Errno(EISDIR) }
      state.image.setName(place.name, in: place.directory, to: nil)
    }
  }

  public func link(_ existing: String, to new: String) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let number = try state.image.find(existing)
      let place = try state.image.place(new)
      guard state.image.inode(place.directory).entries[place.name] == nil else { throw Errno(EEXIST) }
      guard state.image.inode(number).kind != .directory else { throw Errno(EPERM) }
      state.image.setName(place.name, in: place.directory, to: number)
    }
  }

  public func rename(_ old: String, to new: String, replacing: Bool) throws(Errno) {
    try state.withLock { state throws(Errno) in
      let from = try state.image.place(old)
      let source = try state.image.find(old)
      let to = try state.image.place(new)
      guard from.directory == to.directory else { throw Errno(EXDEV) }
      if let target = state.image.inode(to.directory).entries[to.name] {
        guard replacing else { throw Errno(EEXIST) }
        if source == target { return }
        switch (state.image.inode(source).kind == .directory, state.image.inode(target).kind == .directory) {
        case (true, false): throw Errno(ENOTDIR)
        case (false, true): throw Errno(EISDIR)
        case (true, true):
          guard state.image.inode(target).entries.isEmpty else { throw Errno(ENOTEMPTY) }
        case (false, false): break
        }
      }
      state.image.rename(from.name, to: to.name, in: from.directory)
    }
  }

  public func list(_ path: String) throws(Errno) -> [String] {
    try state.withLock { state throws(Errno) in
      // Sorted, so that a run is the same every time; the seam promises no order.
      state.image.inode(try state.image.findDirectory(path)).entries.keys.sorted()
    }
  }

  public func syncDirectory(_ path: String) throws(Errno) {
    try state.withLock { state throws(Errno) in
      state.image.sync(try state.image.findDirectory(path))
      state.collect()
    }
  }

  public func lockDirectory(_ path: String) throws(Errno) -> FileDescriptor {
    try state.withLock { state throws(Errno) in
      let number = try state.image.findDirectory(path)
      guard state.locks[number] == nil else { throw Errno(EWOULDBLOCK) }
      let file = state.add(OpenFile(inode: number, isWritable: false))
      state.locks[number] = file.rawValue
      return file
    }
  }

  public func isDirectoryLocked(_ path: String) throws(Errno) -> Bool {
    try state.withLock { state throws(Errno) in state.locks[try state.image.findDirectory(path)] != nil }
  }

  public func kind(of path: String) throws(Errno) -> FileSystemKind {
    try state.withLock { state throws(Errno) in
      _ = try state.image.find(path)
      return reportedKind
    }
  }

  public func freeByteCount(at path: String) throws(Errno) -> Int64? { state.withLock { $0.freeByteCount } }
}

extension SimulatedDisk.State {
  fileprivate mutating func add(_ file: SimulatedDisk.OpenFile) -> FileDescriptor {
    let number = nextDescriptor
    nextDescriptor += 1
    descriptors[number] = file
    return FileDescriptor(number)
  }

  fileprivate func inode(_ file: FileDescriptor) throws(Errno) -> UInt64 {
    guard let open = descriptors[file.rawValue] else { throw Errno(EBADF) }
    return open.inode
  }

  fileprivate func writableFile(
    _ file: FileDescriptor, otherwise refusal: Int32 = EBADF
  ) throws(Errno) -> UInt64 {
    guard let open = descriptors[file.rawValue] else { throw Errno(EBADF) }
    guard open.isWritable else { throw Errno(refusal) }
    guard image.inode(open.inode).kind == .file else { throw Errno(ESPIPE) }
    return open.inode
  }

  /// Gives back what no name and no descriptor leads to.
  fileprivate mutating func collect() {
    let open = Set(descriptors.values.map(\.inode))
    image.collect { open.contains($0) }
  }
}
