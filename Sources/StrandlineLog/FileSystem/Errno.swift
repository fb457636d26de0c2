internal import Glibc

/// An error number of the operating system, as one call answered it.
public struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: Int32

  public init(_ rawValue: Int32) { self.rawValue = rawValue }

  /// The number the C library holds for the calling thread. Read it before any other call.
  static var current: Errno { Errno(errno) }

  /// True for the three ways a file system says that it has no room: ENOSPC, EDQUOT, EFBIG.
  public var meansOutOfSpace: Bool {
    rawValue == ENOSPC || rawValue == EDQUOT || rawValue == EFBIG
  }

  public var description: String {
    let text = strerror(rawValue).map { String(cString: $0) } ?? "unknown error"
    return "\(text) (errno \(rawValue))"
  }
}

extension Errno {
  static let noSuchFile = Errno(ENOENT)
  /// The file under a descriptor is not the one its path names any more.
  @_spi(Engine) public static let staleFile = Errno(ESTALE)

  /// What opening or reading answers where a directory, a link, a socket or a device stands in a file's place.
  var meansNoRegularFile: Bool { [ELOOP, EISDIR, ENXIO, ENOTDIR].contains(rawValue) }
}
