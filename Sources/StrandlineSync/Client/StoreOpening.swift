internal import FoundationEssentials
internal import Glibc
@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// What a client asks of a store that it is to be opened on.
enum StoreOpening {
  /// A kept copy is what was: it is read, and copied by its backup, and not gone on with.
  static func checkIsNoCopy(_ path: String) throws(SyncError) {
    if let name = path.split(separator: "/").last, KeptCopyName.isOne(String(name)) {
      throw SyncError(
        .configInvalid, "the store at \(path) is a kept copy, which is only read; make a backup of it and open that")
    }
  }

  /// A client's store is its own: resets concern all of it.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid`` if an application keeps anything in it.
  static func check(_ store: Store, path: String) throws {
    let view = try store.view()
    for name in view.tableNames where !name.hasPrefix(StateTable.prefix) {
      if try view.key(ofTable: name) != [KeyColumn(HiddenColumn.pk, .string)] {
        throw SyncError(
          .configInvalid,
          "the store at \(path) has a table \(name) that is no sync client's; give the client a store of its own")
      }
    }
    if try view.hasEvents() {
      throw SyncError(
        .configInvalid, "the store at \(path) holds an application's events; give the client a store of its own")
    }
  }

  static func thrown(for error: any Error, path: String) -> any Error {
    guard let storeError = error as? StoreError else { return SyncError.thrown(for: error) }
    let error = SyncError(storeError)
    let code: SyncErrorCode
    switch storeError {
    case .ioFailed(let failure):
      let notThere: Set<Int32> = [ENOENT, ENOTDIR, EACCES, EPERM, EISDIR, EROFS, ENAMETOOLONG, ELOOP, EINVAL]
      code = notThere.contains(failure.errno.rawValue) ? .configInvalid : .storeUnavailable
    case .noStore: code = .configInvalid
    case .corrupt, .unsupportedFormat, .outOfSpace, .undecodable: code = .storeUnavailable
    default: code = error.catalogueCode ?? .store
    }
    return SyncError(
      code, "the store at \(path) cannot be opened: \(error.message)", originalError: error.originalError)
  }
}

/// The directory of attachments' bytes.
enum AttachmentRoot {
  static func make(_ path: String?) throws(SyncError) {
    guard let path else { return }
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw SyncError(.configInvalid, "attachmentRoot: \(path) cannot be made: \(error)", originalError: error)
    }
  }
}
