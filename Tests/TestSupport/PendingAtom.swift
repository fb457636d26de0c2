/// One change that the page cache holds and the medium may or may not have: the unit in which power loss keeps or drops.
public struct PendingAtom: Sendable, CustomStringConvertible {
  /// What the change is.
  public enum Change: Sendable {
    /// A block of a file, with all that was written to it so far. `changed` is what differs from the medium.
    case content(block: Int, changed: Range<Int>)
    /// The size of a file.
    case size(Int64)
    /// A name in a directory: made, pointed at another file, or removed.
    case name(String, isRemoval: Bool)
    /// A name in a directory became another, in one step.
    case rename(from: String, to: String)
  }

  /// Place in the order of all changes of the disk.
  public let number: Int
  /// The file or directory that is changed.
  public let inode: UInt64
  public let change: Change

  public var description: String {
    switch change {
    case .content(let block, let changed): "#\(number) inode \(inode) block \(block) bytes \(changed)"
    case .size(let byteCount): "#\(number) inode \(inode) size \(byteCount)"
    case .name(let name, let isRemoval): "#\(number) directory \(inode) \(isRemoval ? "-" : "+")\(name)"
    case .rename(let from, let to): "#\(number) directory \(inode) \(from) -> \(to)"
    }
  }
}

/// A pending change with what it takes to carry it out.
struct Atom: Sendable {
  enum Change: Sendable {
    case block(Int, FileContent.Page, changed: Range<Int>)
    /// `isCut`: bytes went away with this change.
    case size(Int64, isCut: Bool)
    case name(String, UInt64?)
    case rename(from: String, to: String, UInt64)
  }

  let number: Int
  let change: Change

  func published(inode: UInt64) -> PendingAtom {
    let change: PendingAtom.Change =
      switch change {
      case .block(let block, _, let changed): .content(block: block, changed: changed)
      case .size(let byteCount, _): .size(byteCount)
      case .name(let name, let target): .name(name, isRemoval: target == nil)
      case .rename(let from, let to, _): .rename(from: from, to: to)
      }
    return PendingAtom(number: number, inode: inode, change: change)
  }
}
