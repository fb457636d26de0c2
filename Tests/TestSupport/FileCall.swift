public import StrandlineLog

/// The methods of ``FileSystem``, as kinds of calls.
public enum FileOperation: String, Hashable, Sendable, CaseIterable {
  case open, create, close, read, write, syncData, sync, truncate, allocate, clone, dropCache, nextData, status,
    statusAt
  case makeDirectory, removeDirectory, unlink, link, rename, list, syncDirectory, lockDirectory,
    isDirectoryLocked, kind

  /// Whether a call of this kind can change what is on the disk or what survives power loss.
  public var changesDisk: Bool {
    switch self {
    case .create, .write, .syncData, .sync, .truncate, .allocate, .clone, .dropCache: true
    case .makeDirectory, .removeDirectory, .unlink, .link, .rename, .syncDirectory: true
    case .open, .close, .read, .nextData, .status, .statusAt, .list, .lockDirectory, .isDirectoryLocked, .kind: false
    }
  }
}

/// One call of a file system: what was asked for.
public struct FileCall: Sendable, Hashable, CustomStringConvertible {
  /// Counts the calls through one wrapper from 0.
  public var number: Int
  public var operation: FileOperation
  /// The file or directory; for calls on a descriptor the name it has now.
  public var path: String
  /// The second name of rename, link and clone.
  public var otherPath: String?
  /// Where in the file, for calls that say so; the new size for truncate.
  public var offset: Int64?
  /// How many bytes, for calls that say so.
  public var byteCount: Int?
  /// The descriptor, for calls on one.
  public var descriptor: FileDescriptor?

  /// The last component of ``path``.
  public var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  public var description: String {
    var text = "\(operation.rawValue) \(path)"
    if let otherPath { text += " -> \(otherPath)" }
    if let offset { text += " @\(offset)" }
    if let byteCount { text += " +\(byteCount)" }
    return text
  }
}
