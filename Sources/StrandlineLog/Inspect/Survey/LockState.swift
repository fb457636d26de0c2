/// Whether someone has the store open for writing.
@_spi(Engine) public enum LockState: Hashable, Sendable {
  case free
  /// With what the owner wrote down, if that can be read.
  case held(LockOwner?)
  /// The system does not say.
  case unknown

  /// Asks the system's list of locks; takes none, not even for a moment.
  static func of(_ directory: StoreDirectory) -> LockState {
    do throws(Errno) {
      return try directory.fileSystem.isDirectoryLocked(directory.path) ? .held(LockFile.read(in: directory)) : .free
    } catch {
      return .unknown
    }
  }

  public var isHeld: Bool {
    if case .held = self { true } else { false }
  }
}
