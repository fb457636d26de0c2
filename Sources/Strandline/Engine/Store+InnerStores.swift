@_spi(Engine) internal import StrandlineLog

// Stores in directories inside a store's own: staging stores, and copies of what a reset voided.

extension Store {
  /// The directory of a staging store.
  @_spi(Engine) public func stagingPath(_ id: String) -> String { "\(path)/stage-\(id)" }

  /// Names of the staging stores that lie inside this one.
  @_spi(Engine) public func stagingNames() throws -> [String] {
    try innerNames().filter { $0.hasPrefix("stage-") }
  }

  /// Names of the kept copies, the oldest first.
  @_spi(Engine) public func keptCopyNames() throws -> [String] {
    try innerNames().filter { KeptCopyName.isOne($0) }
  }

  /// The name of a kept copy that is to be made: by it the copy is known again.
  @_spi(Engine) public static func keptCopyName(milliseconds: Int64, id: UInt64) -> String {
    KeptCopyName.make(milliseconds: milliseconds, randomBits: id)
  }

  private func innerNames() throws -> [String] {
    let directory = engine.directory
    do throws(LogError) {
      return try directory.perform(.list, directory.path) { () throws(Errno) in
        StoreListing(try directory.fileSystem.list(directory.path)).inner
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Removes a directory inside this one's with all that is in it. What a crash leaves of it has a name that the next open removes, or is
  /// removed by another call.
  @_spi(Engine) public func removeInner(_ name: String) async throws {
    let directory = engine.directory
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
          if try directory.fileSystem.statusIfPresent(at: tree) != nil { try directory.removeTree(tree) }
        }
        try directory.syncEntries()
      } catch {
        throw StoreError(error)
      }
    }
  }

  /// Puts a small file into a directory inside this one's; one that is there stays.
  @_spi(Engine) public func writeInner(_ name: String, _ file: String, _ bytes: [UInt8]) async throws {
    let directory = engine.directory
    try await OwnThread.run { () throws(StoreError) in
      do throws(LogError) {
        let inner = StoreDirectory(path: directory.path(of: name), fileSystem: directory.fileSystem)
        try inner.writeNew(inner.path(of: file), bytes)
        try inner.syncEntries()
      } catch {
        throw StoreError(error)
      }
    }
  }
}
