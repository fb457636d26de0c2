import Glibc

/// What can be told of a directory without opening its files.
struct DirectorySignature: Equatable, Sendable {
  private var files: [String]

  init(_ path: String) {
    files = DirectoryTree.fileSizes(in: path).map {
      "\($0.name) \($0.byteCount) \($0.modified.tv_sec).\($0.modified.tv_nsec)"
    }
  }
}
