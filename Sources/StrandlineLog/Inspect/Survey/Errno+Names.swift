internal import Glibc

extension Errno {
  static let noSuchFile = Errno(ENOENT)
  /// The file system cannot answer the question.
  static let notImplemented = Errno(ENOSYS)
}
