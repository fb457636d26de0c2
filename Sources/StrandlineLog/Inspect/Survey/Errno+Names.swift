internal import Glibc

extension Errno {
  /// The file system cannot answer the question.
  static let notImplemented = Errno(ENOSYS)
}
