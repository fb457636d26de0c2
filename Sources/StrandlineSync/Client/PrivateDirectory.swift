internal import FoundationEssentials
internal import Glibc

/// A directory for a store in memory, which goes with its owner.
final class PrivateDirectory: Sendable {
  let path: String

  /// In memory where the machine has a file system for that.
  init() throws {
    var failure: Int32 = 0
    for parent in ["/dev/shm", FileManager.default.temporaryDirectory.path] {
      var template = Array("\(parent)/strandline-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return
      }
      failure = errno
    }
    throw SyncError(
      .storeUnavailable, "no directory can be made for a store in memory",
      originalError: POSIXErrorCode(rawValue: failure).map { POSIXError($0) })
  }

  /// Removes the directory and all in it.
  func remove() { try? FileManager.default.removeItem(atPath: path) }

  deinit { remove() }
}
