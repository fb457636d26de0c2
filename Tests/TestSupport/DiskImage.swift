internal import Glibc
internal import StrandlineLog

/// All that a simulated disk holds: for every file and directory what the medium has (*durable*), what the page cache has
/// (*volatile*), and the changes between the two, each an atom that power loss may keep or drop.
///
/// A value: copies share their pages until one of them writes, so a test keeps one at every call of a long run.
///
/// Atoms are blocks of a file, sizes, and names in directories. `fsync` and `fdatasync` of a file move its blocks and size
/// to the medium; names move only when their directory is synced. Space that a file was given is not an atom.
public struct DiskImage: Sendable {
  /// Bytes of one block: the unit in which contents are kept or lost.
  public let atomByteCount: Int
  /// Space for file contents; nil is endless.
  ///
  /// Overwriting a block that a file has takes none, so it works on a full disk.
  public var byteCountMax: Int64?

  var inodes: [Inode?]
  private var nextAtomNumber = 0
  private let zeroPage: FileContent.Page

  struct Inode: Sendable {
    enum Kind: Sendable, Hashable {
      case file, directory, fifo
      case symbolicLink(String)
    }

    let kind: Kind
    var content: FileContent
    var durableContent: FileContent
    var entries: [String: UInt64] = [:]
    var durableEntries: [String: UInt64] = [:]
    var pending: [Atom] = []
    /// Blocks that a failed sync dropped: the cache shows them, nothing will write them back.
    var lostBlocks: Set<Int> = []
    /// Number of names in the volatile tree.
    var linkCount: UInt64 = 0

    init(_ kind: Kind, pageByteCount: Int) {
      self.kind = kind
      content = FileContent(pageByteCount: pageByteCount)
      durableContent = content
    }
  }

  static let rootNumber: UInt64 = 1

  /// An empty disk: a durable root directory.
  ///
  /// - Parameter atomByteCount: 512, what old disks write at once, or 4096.
  public init(atomByteCount: Int = 512) {
    precondition(atomByteCount == 512 || atomByteCount == 4096, "atoms are disk sectors or pages")
    self.atomByteCount = atomByteCount
    zeroPage = FileContent.Page(repeating: 0, count: atomByteCount)
    inodes = [nil, Inode(.directory, pageByteCount: atomByteCount)]
    inodes[1]!.linkCount = 1
  }

  func inode(_ number: UInt64) -> Inode { inodes[Int(number)]! }

  // MARK: Paths

  /// The inode a path names in the volatile tree. Symbolic links are not followed.
  func find(_ path: String) throws(Errno) -> UInt64 {
    var number = Self.rootNumber
    for component in Self.components(path) {
      guard inode(number).kind == .directory else { throw Errno(ENOTDIR) }
      guard let next = inode(number).entries[component] else { throw Errno(ENOENT) }
      number = next
    }
    return number
  }

  func findDirectory(_ path: String) throws(Errno) -> UInt64 {
    let number = try find(path)
    guard inode(number).kind == .directory else { throw Errno(ENOTDIR) }
    return number
  }

  /// The directory that holds, or would hold, the last component of `path`, and that component.
  func place(_ path: String) throws(Errno) -> (directory: UInt64, name: String) {
    var components = Self.components(path)
    guard let name = components.popLast() else { throw Errno(EBUSY) }
    return (try findDirectory(components.joined(separator: "/")), name)
  }

  static func components(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).compactMap { part in
      part.elementsEqual(".".utf8) ? nil : String(Substring(part))
    }
  }

  // MARK: Contents

  /// Writes what there is room for; the count of bytes taken.
  mutating func write(
    _ number: UInt64, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(Errno) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let count = bytes.count - missingRoom(number, offset..<offset + Int64(bytes.count))
    guard count > 0 else { throw Errno(ENOSPC) }
    let end = offset + Int64(count)
    var done = 0
    while done < count {
      let place = Int(offset) + done
      let start = place % atomByteCount
      let length = min(atomByteCount - start, count - done)
      writeBlock(
        number, place / atomByteCount, at: start, UnsafeRawBufferPointer(rebasing: bytes[done..<done + length]))
      done += length
    }
    if end > inode(number).content.byteCount { resize(number, to: end) }
    return count
  }

  private mutating func writeBlock(_ number: UInt64, _ block: Int, at start: Int, _ bytes: UnsafeRawBufferPointer) {
    let index = Int(number)
    let old = inodes[index]!.content.page(block)
    let isLost = inodes[index]!.lostBlocks.contains(block)
    // Zeros over a hole change nothing that can be read; they only take space.
    if old == nil, !isLost, bytes.allSatisfy({ $0 == 0 }) {
      giveSpace(number, block)
      return
    }
    var page = old ?? zeroPage
    page.withUnsafeMutableBytes {
      UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + bytes.count]).copyMemory(from: bytes)
    }
    if page == old, !isLost { return }
    var changed = start..<start + bytes.count
    for atom in inodes[index]!.pending.reversed() {
      guard case .block(block, _, let earlier) = atom.change else { continue }
      changed = min(changed.lowerBound, earlier.lowerBound)..<max(changed.upperBound, earlier.upperBound)
      break
    }
    if isLost {
      // The whole page is dirty again, with what the medium never got.
      inodes[index]!.lostBlocks.remove(block)
      changed = 0..<atomByteCount
    }
    inodes[index]!.content.setPage(block, to: page)
    addAtom(number, .block(block, page, changed: changed))
  }

  private mutating func giveSpace(_ number: UInt64, _ block: Int) {
    let index = Int(number)
    if inodes[index]!.content.page(block) == nil { inodes[index]!.content.setPage(block, to: zeroPage) }
    if inodes[index]!.durableContent.page(block) == nil { inodes[index]!.durableContent.setPage(block, to: zeroPage) }
  }

  /// How many bytes at the end of `range` there is no room for.
  private func missingRoom(_ number: UInt64, _ range: Range<Int64>) -> Int {
    guard let byteCountMax else { return 0 }
    let content = inode(number).content
    var free: Int?
    for block in Int(range.lowerBound) / atomByteCount...Int(range.upperBound - 1) / atomByteCount
    where content.page(block) == nil {
      let left = (free ?? Int(byteCountMax - usedByteCount) / atomByteCount) - 1
      if left < 0 { return Int(range.upperBound) - max(Int(range.lowerBound), block * atomByteCount) }
      free = left
    }
    return 0
  }

  /// Bytes that files take on the disk, holes not counted.
  public var usedByteCount: Int64 {
    inodes.reduce(0) { $0 + Int64($1?.content.allocatedPageCount ?? 0) * Int64(atomByteCount) }
  }

  mutating func resize(_ number: UInt64, to end: Int64) {
    let index = Int(number)
    let old = inodes[index]!.content.byteCount
    guard end != old else { return }
    inodes[index]!.content.resize(to: end)
    if end < old {
      inodes[index]!.lostBlocks = inodes[index]!.lostBlocks.filter { Int64($0) * Int64(atomByteCount) < end }
    }
    addAtom(number, .size(end, isCut: end < old))
  }

  /// Gives `range` space and, where it ends behind the file's end, grows the file.
  mutating func allocate(_ number: UInt64, _ range: Range<Int64>) throws(Errno) {
    guard !range.isEmpty, range.lowerBound >= 0 else { throw Errno(EINVAL) }
    guard missingRoom(number, range) == 0 else { throw Errno(ENOSPC) }
    for block in Int(range.lowerBound) / atomByteCount...Int(range.upperBound - 1) / atomByteCount {
      giveSpace(number, block)
    }
    if range.upperBound > inode(number).content.byteCount { resize(number, to: range.upperBound) }
  }

  mutating func clone(_ source: UInt64, to target: UInt64) {
    let content = inode(source).content
    for (block, page) in content.pages.enumerated() {
      guard let page else { continue }
      inodes[Int(target)]!.content.setPage(block, to: page)
      addAtom(target, .block(block, page, changed: 0..<atomByteCount))
    }
    resize(target, to: content.byteCount)
  }

  /// Forgets clean pages from `offset` on, so that a page a failed sync dropped shows what the medium has.
  mutating func dropCache(_ number: UInt64, from offset: Int64) {
    let index = Int(number)
    for block in inodes[index]!.lostBlocks where Int64(block) * Int64(atomByteCount) >= offset {
      inodes[index]!.content.setPage(block, to: inodes[index]!.durableContent.page(block))
      inodes[index]!.lostBlocks.remove(block)
    }
  }

  // MARK: Names

  mutating func makeInode(_ kind: Inode.Kind) -> UInt64 {
    inodes.append(Inode(kind, pageByteCount: atomByteCount))
    return UInt64(inodes.count - 1)
  }

  mutating func setName(_ name: String, in directory: UInt64, to target: UInt64?) {
    let old = inodes[Int(directory)]!.entries.updateOrRemove(name, target)
    if let old { inodes[Int(old)]!.linkCount -= 1 }
    if let target { inodes[Int(target)]!.linkCount += 1 }
    addAtom(directory, .name(name, target))
  }

  mutating func rename(_ name: String, to new: String, in directory: UInt64) {
    let index = Int(directory)
    guard let target = inodes[index]!.entries.removeValue(forKey: name) else { return }
    if let old = inodes[index]!.entries.updateValue(target, forKey: new) { inodes[Int(old)]!.linkCount -= 1 }
    addAtom(directory, .rename(from: name, to: new, target))
  }

  /// Frees inodes that no name leads to, on the medium or in the cache.
  ///
  /// - Parameter isOpen: true for those that a descriptor keeps.
  mutating func collect(where isOpen: (UInt64) -> Bool) {
    let named = reachable()
    for number in inodes.indices where inodes[number] != nil && !named.contains(UInt64(number)) {
      if !isOpen(UInt64(number)) { inodes[number] = nil }
    }
  }

  /// All inodes that a volatile, a durable or a pending name leads to.
  private func reachable() -> Set<UInt64> {
    var found: Set<UInt64> = [Self.rootNumber]
    var queue = [Self.rootNumber]
    while let number = queue.popLast() {
      let inode = inode(number)
      guard inode.kind == .directory else { continue }
      var targets = Array(inode.entries.values)
      targets.append(contentsOf: inode.durableEntries.values)
      for atom in inode.pending {
        switch atom.change {
        case .name(_, let target?), .rename(_, _, let target): targets.append(target)
        case .name(_, nil), .block, .size: break
        }
      }
      for target in targets where found.insert(target).inserted { queue.append(target) }
    }
    return found
  }

  // MARK: Atoms

  private mutating func addAtom(_ number: UInt64, _ change: Atom.Change) {
    inodes[Int(number)]!.pending.append(Atom(number: nextAtomNumber, change: change))
    nextAtomNumber += 1
  }

  /// Changes that the medium may not have, oldest first.
  public var pendingAtoms: [PendingAtom] {
    reachable().flatMap { number in inode(number).pending.map { $0.published(inode: number) } }
      .sorted { $0.number < $1.number }
  }

  /// Moves all pending changes of one file or directory to the medium.
  mutating func sync(_ number: UInt64) {
    let index = Int(number)
    let pending = inodes[index]!.pending
    inodes[index]!.pending = []
    for atom in pending { inodes[index]!.apply(atom.change) }
  }

  /// What a failed sync does to the file's dirty blocks. Sizes stay pending: they are in the file system's journal.
  mutating func failSync(_ number: UInt64, losing loss: SyncLoss) {
    let index = Int(number)
    guard inodes[index]!.kind == .file else { return }
    var generator = SeededGenerator(seed: loss.seed ?? 0)
    var blocks: [Int: SyncLoss.Outcome] = [:]
    var left: [Atom] = []
    for atom in inodes[index]!.pending {
      guard case .block(let block, _, _) = atom.change else {
        left.append(atom)
        continue
      }
      let outcome = blocks[block] ?? loss.outcome(&generator)
      blocks[block] = outcome
      switch outcome {
      case .lost: inodes[index]!.lostBlocks.insert(block)
      case .written: inodes[index]!.apply(atom.change)
      case .dirty: left.append(atom)
      }
    }
    inodes[index]!.pending = left
  }
}

extension DiskImage.Inode {
  /// Carries out a change on the durable half.
  mutating func apply(_ change: Atom.Change) {
    switch change {
    case .block(let block, let page, _): durableContent.setPage(block, to: page)
    case .size(let byteCount, let isCut):
      if isCut { durableContent.cut(to: byteCount) }
      durableContent.resize(to: byteCount)
    case .name(let name, let target): _ = durableEntries.updateOrRemove(name, target)
    case .rename(let from, let to, let target):
      durableEntries[from] = nil
      durableEntries[to] = target
    }
  }
}

extension Dictionary {
  fileprivate mutating func updateOrRemove(_ key: Key, _ value: Value?) -> Value? {
    if let value { updateValue(value, forKey: key) } else { removeValue(forKey: key) }
  }
}
