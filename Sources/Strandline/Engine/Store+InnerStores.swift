@_spi(Engine) internal import StrandlineLog

// Stores in directories inside a store's own: staging stores, and copies of what a reset voided.

/// A file whatever its names are.
@_spi(Engine) public struct StoredFile: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

extension Store {
  /// The directory of a staging store.
  @_spi(Engine) public func stagingPath(_ id: String) -> String { "\(path)/stage-\(id)" }

  /// Names of the staging stores that lie inside this one.
  @_spi(Engine) public func stagingNames() throws -> [String] {
    try names(in: nil).inner.filter { $0.hasPrefix("stage-") }
  }

  /// Names of the kept copies, the oldest first.
  ///
  /// - Parameter directory: nil: the store's own. One that is not there has none.
  @_spi(Engine) public func keptCopyNames(in directory: String? = nil) throws -> [String] {
    try names(in: directory).inner.filter { KeptCopyName.isOne($0) }
  }

  /// The name of a kept copy that is to be made: by it the copy is known again.
  @_spi(Engine) public static func keptCopyName(milliseconds: Int64, id: UInt64) -> String {
    KeptCopyName.make(milliseconds: milliseconds, randomBits: id)
  }

  private func names(in path: String?) throws -> StoreListing {
    let directory = place(path)
    do throws(LogError) {
      return try directory.perform(.list, directory.path) { () throws(Errno) in
        if path != nil, !directory.fileSystem.isDirectory(directory.path) { return StoreListing([]) }
        return StoreListing(try directory.fileSystem.list(directory.path))
      }
    } catch {
      throw StoreError(error)
    }
  }

  private func place(_ path: String?) -> StoreDirectory {
    path.map { StoreDirectory(path: $0, fileSystem: engine.directory.fileSystem) } ?? engine.directory
  }

  /// Makes a directory for kept copies, and those that it lies in, where there are none.
  @_spi(Engine) public func makeCopyDirectory(_ path: String) async throws {
    let directory = place(path)
    try await OwnThread.run { () throws(StoreError) in
      do throws(LogError) {
        try directory.performNeedingSpace(.makeDirectory, path) { () throws(Errno) in
          try directory.fileSystem.makeDirectories(path)
        }
      } catch {
        throw StoreError(error)
      }
    }
  }

  /// Removes what a crash left in a directory for kept copies: half of one that was being made, or removed.
  @_spi(Engine) public func removeUnfinishedCopies(in path: String) async throws {
    for name in try names(in: path).unfinished { try await removeInner(name, in: path) }
  }

  /// Bytes that may still be allocated where the store lies; nil where that cannot be told.
  @_spi(Engine) public func freeByteCount() -> Int64? {
    let directory = engine.directory
    do throws(Errno) { return try directory.fileSystem.freeByteCount(at: directory.path) } catch { return nil }
  }

  /// The files of a directory, with their sizes. One file may have several names.
  @_spi(Engine) public func files(of path: String) throws -> [StoredFile: Int64] {
    let directory = engine.directory
    do throws(LogError) {
      return try directory.perform(.list, path) { () throws(Errno) in
        var files: [StoredFile: Int64] = [:]
        for entry in try directory.fileSystem.list(path) {
          guard let status = try directory.fileSystem.statusIfPresent(at: "\(path)/\(entry)"), status.kind == .file
          else { continue }
          files[StoredFile(device: status.device, inode: status.inode)] = status.byteCount
        }
        return files
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Removes a directory inside this one's with all that is in it, or what else has its name. What a crash leaves of it has a name that
  /// the next open removes, or is removed by another call.
  ///
  /// - Parameter path: of the directory that it is in; nil: the store's own.
  @_spi(Engine) public func removeInner(_ name: String, in path: String? = nil) async throws {
    let directory = place(path)
    try await OwnThread.run { () throws(StoreError) in
      do throws(LogError) {
        var path = directory.path(of: name)
        if KeptCopyName.isOne(name) {
          // Never half a copy under a copy's name.
          let temporary = path + ".tmp"
          let old = path
          try directory.perform(.rename, path) { () throws(Errno) in
            try directory.fileSystem.rename(old, to: temporary, replacing: false)
          }
          try directory.syncEntries()
          path = temporary
        }
        let tree = path
        try directory.perform(.unlink, tree) { () throws(Errno) in
          switch try directory.fileSystem.statusIfPresent(at: tree)?.kind {
          case nil: break
          case .directory?: try directory.removeTree(tree)
          // Something else that lies where it is to be.
          default: try directory.fileSystem.unlinkIfPresent(tree)
          }
        }
        try directory.syncEntries()
      } catch {
        throw StoreError(error)
      }
    }
  }

  /// Puts a small file into a directory; one that is there stays.
  @_spi(Engine) public func writeFile(_ file: String, _ bytes: [UInt8], in path: String) async throws {
    let inner = place(path)
    try await OwnThread.run { () throws(StoreError) in
      do throws(LogError) {
        try inner.writeNew(inner.path(of: file), bytes)
        try inner.syncEntries()
      } catch {
        throw StoreError(error)
      }
    }
  }
}
