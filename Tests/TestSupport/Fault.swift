public import StrandlineLog

/// What a ``FaultyFileSystem`` does to a call in place of carrying it out.
public enum Fault: Sendable, Hashable {
  /// Fails and does nothing. A failing close still gives the descriptor back, as on Linux.
  case errno(Errno)
  /// A sync fails after it has done this to the dirty blocks. Other calls just fail.
  case failedSync(Errno, losing: SyncLoss)
  /// A read or write moves fewer bytes than asked for. Other calls, and those of one byte, are carried out in full.
  case short(ShortLength)
  /// A read or write answers 0 bytes.
  case nothing
  /// The process dies here: this call and all later ones do nothing. A write has put `bytesWritten` of its bytes first.
  case crash(bytesWritten: Int)

  public enum ShortLength: Sendable, Hashable {
    case oneByte, half, allButOne

    /// How many of `count` bytes are moved.
    func of(_ count: Int) -> Int {
      guard count > 1 else { return count }
      return switch self {
      case .oneByte: 1
      case .half: count / 2
      case .allButOne: count - 1
      }
    }
  }
}
