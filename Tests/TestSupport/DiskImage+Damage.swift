internal import Glibc
internal import StrandlineLog

/// What happens to a disk at rest: rot, a careless operator, a restore. All of it is durable at once.
extension DiskImage {
  /// What stands where a file was expected.
  public enum Stranger: Sendable, Hashable {
    case directory, fifo
    case symbolicLink(to: String)
  }

  /// Whether `path` names anything.
  public func exists(_ path: String) -> Bool { (try? find(path)) != nil }

  /// All bytes of a file; nil if `path` is no file.
  public func bytes(of path: String) -> [UInt8]? {
    guard let number = try? find(path), inode(number).kind == .file else { return nil }
    return inode(number).content.bytes
  }

  /// Paths of all regular files below `path`, sorted.
  public func files(below path: String) -> [String] {
    guard let number = try? find(path) else { return [] }
    return inode(number).entries.sorted { $0.key < $1.key }.flatMap { name, target -> [String] in
      let child = path == "/" ? "/" + name : path + "/" + name
      return switch inode(target).kind {
      case .file: [child]
      case .directory: files(below: child)
      case .fifo, .symbolicLink: []
      }
    }
  }

  /// Names in a directory, sorted.
  public func names(in path: String) -> [String] {
    guard let number = try? find(path) else { return [] }
    return inode(number).entries.keys.sorted()
  }

  /// Replaces bytes of a file from `offset` on; the size stays.
  public mutating func poke(_ path: String, at offset: Int, _ bytes: [UInt8]) {
    edit(path) { $0.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
  }

  /// Turns one bit of a file.
  public mutating func flip(_ path: String, byte: Int, bit: Int) {
    edit(path) { $0[byte] ^= 1 << UInt8(bit) }
  }

  /// Changes the bytes of a file, and with their count its size.
  public mutating func edit(_ path: String, _ change: (inout [UInt8]) -> Void) {
    guard let number = try? find(path) else { preconditionFailure("\(path): no such file") }
    var bytes = inode(number).content.bytes
    change(&bytes)
    settle(number, FileContent(bytes, pageByteCount: atomByteCount))
  }

  /// Makes or replaces a file. Its directory must be there.
  public mutating func put(_ path: String, _ bytes: [UInt8]) {
    remove(path)
    let number = makeInode(.file)
    settle(number, FileContent(bytes, pageByteCount: atomByteCount))
    addName(path, number)
  }

  /// Puts something that is no file in the place of `path`.
  public mutating func put(_ path: String, _ stranger: Stranger) {
    remove(path)
    switch stranger {
    case .directory: addName(path, makeInode(.directory))
    case .fifo: addName(path, makeInode(.fifo))
    case .symbolicLink(let target): addName(path, makeInode(.symbolicLink(target)))
    }
  }

  /// Makes `new` a second name of the file `path`.
  public mutating func hardLink(_ path: String, to new: String) {
    guard let number = try? find(path) else { preconditionFailure("\(path): no such file") }
    remove(new)
    addName(new, number)
  }

  /// Takes a name away, and with a directory all below it. No such name: nothing happens.
  public mutating func remove(_ path: String) {
    guard let place = try? place(path), let old = inode(place.directory).entries[place.name] else { return }
    inodes[Int(place.directory)]!.entries[place.name] = nil
    inodes[Int(place.directory)]!.durableEntries[place.name] = nil
    inodes[Int(old)]!.linkCount -= 1
  }

  /// Puts a copy of `path` of another disk, files and directories below it included, at `new`.
  public mutating func copy(_ path: String, of other: DiskImage, to new: String) {
    guard let source = try? other.find(path) else { preconditionFailure("\(path): no such name") }
    switch other.inode(source).kind {
    case .file: put(new, other.inode(source).content.bytes)
    case .directory:
      put(new, .directory)
      for name in other.inode(source).entries.keys.sorted() { copy(path + "/" + name, of: other, to: new + "/" + name) }
    case .fifo: put(new, .fifo)
    case .symbolicLink(let target): put(new, .symbolicLink(to: target))
    }
  }

  private mutating func settle(_ number: UInt64, _ content: FileContent) {
    let index = Int(number)
    inodes[index]!.content = content
    inodes[index]!.durableContent = content
    inodes[index]!.pending = []
    inodes[index]!.lostBlocks = []
  }

  private mutating func addName(_ path: String, _ number: UInt64) {
    guard let place = try? place(path) else { preconditionFailure("\(path): no such directory") }
    inodes[Int(place.directory)]!.entries[place.name] = number
    inodes[Int(place.directory)]!.durableEntries[place.name] = number
    inodes[Int(number)]!.linkCount += 1
  }
}
