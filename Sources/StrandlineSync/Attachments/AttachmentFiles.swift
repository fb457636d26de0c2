internal import FoundationEssentials
internal import Glibc
internal import StrandlineProtocol

// The directory of attachments' bytes. No name in it comes from a server.
//
//   content/<sha256>     bytes that were put in here; rows with the same bytes share one file
//   downloads/<sha256>   bytes that were fetched
//   incoming/<uuid>      what is being copied or fetched right now; emptied when a client opens
struct AttachmentFiles: Sendable {
  enum Folder: String, Sendable {
    case content
    case downloads
    case incoming
  }

  /// What was read of a file from its start to its end.
  struct Digest: Hashable, Sendable {
    var sha256: String
    var byteCount: Int64
  }

  private static let pieceByteCount = 1 << 20

  /// Without a slash at its end, and without links on the way: a file has one path, however the directory is spelled.
  let root: String

  /// Nil: the client has no such directory.
  ///
  /// - Parameter configured: a directory that is there.
  init?(_ configured: String?) {
    guard var root = configured else { return nil }
    while root.utf8.count > 1, root.hasSuffix("/") { root.removeLast() }
    self.root = Self.resolved(root) ?? root
  }

  /// The one path of what is there; nil: nothing is.
  private static func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  func path(_ name: String, in folder: Folder) -> String { "\(root)/\(folder.rawValue)/\(name)" }

  // MARK: Bringing in

  /// - Throws: ``SyncErrorCode/store``.
  func make(_ folder: Folder) throws(SyncError) {
    do {
      try FileManager.default.createDirectory(
        atPath: "\(root)/\(folder.rawValue)", withIntermediateDirectories: true)
    } catch {
      throw SyncError(.store, "\(root)/\(folder.rawValue) cannot be made: \(error)", originalError: error)
    }
  }

  /// Copies a file of the application into `incoming`, off the caller's thread.
  ///
  /// - Throws: ``SyncErrorCode/transfer`` if the source cannot be read, ``SyncErrorCode/store`` if the copy cannot be written. No copy is
  ///   left then.
  @concurrent func copyIn(_ source: String, as name: String) async throws(SyncError) -> Digest {
    let input = try Self.openSource(source)
    defer { close(input) }
    try make(.incoming)
    let target = path(name, in: .incoming)
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if output < 0 { throw Self.error(.store, "\(target) cannot be made") }
    defer { close(output) }
    do throws(SyncError) {
      let digest = try Self.digest(of: input, at: source) { (piece) throws(SyncError) in
        try Self.write(piece, to: output, at: target)
      }
      if fsync(output) != 0 { throw Self.error(.store, "\(target) cannot be made durable") }
      return digest
    } catch {
      unlink(target)
      throw error
    }
  }

  /// The digest of a file that was fetched, made durable. Off the caller's thread.
  ///
  /// - Throws: ``SyncErrorCode/store``.
  @concurrent func digestIncoming(_ name: String) async throws(SyncError) -> Digest {
    let path = self.path(name, in: .incoming)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw Self.error(.store, "\(path) cannot be read") }
    defer { close(file) }
    do throws(SyncError) {
      let digest = try Self.digest(of: file, at: path) { (_) throws(SyncError) in }
      if fsync(file) != 0 { throw Self.error(.store, "\(path) cannot be made durable") }
      return digest
    } catch {
      throw SyncError(.store, error.message, originalError: error.originalError)
    }
  }

  /// Moves a file out of `incoming` to its place, over one with the same bytes; answers its path.
  ///
  /// - Throws: ``SyncErrorCode/store``.
  func keep(_ name: String, as sha256: String, in folder: Folder) throws(SyncError) -> String {
    try make(folder)
    let target = path(sha256, in: folder)
    if rename(path(name, in: .incoming), target) != 0 { throw Self.error(.store, "\(target) cannot be made") }
    let directory = open("\(root)/\(folder.rawValue)", O_RDONLY | O_CLOEXEC)
    if directory < 0 { throw Self.error(.store, "\(root)/\(folder.rawValue) cannot be opened") }
    defer { close(directory) }
    if fsync(directory) != 0 { throw Self.error(.store, "\(root)/\(folder.rawValue) cannot be made durable") }
    return target
  }

  func dropIncoming(_ name: String) { unlink(path(name, in: .incoming)) }

  /// Empties `incoming`: nothing is on its way when a client opens.
  func clearIncoming() { try? FileManager.default.removeItem(atPath: "\(root)/\(Folder.incoming.rawValue)") }

  // MARK: Looking and reading

  /// The size of a regular file; nil: there is none.
  static func byteCount(of path: String) -> Int64? {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(info.st_size)
  }

  /// A piece of a file, off the caller's thread; nil if it cannot be read whole.
  @concurrent static func read(_ path: String, from offset: Int64, count: Int) async -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = bytes.withUnsafeMutableBytes { buffer in
        pread(file, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
      }
      if got < 0, errno == EINTR { continue }
      if got <= 0 { return nil }
      filled += got
    }
    return bytes
  }

  /// Whether a path leads to something beneath the root, and nowhere else.
  func contains(_ path: String) -> Bool {
    let prefix = root == "/" ? "/" : root + "/"
    guard path.utf8.starts(with: prefix.utf8), path.utf8.count > prefix.utf8.count else { return false }
    return !path.split(separator: "/").contains("..")
  }

  /// Deletes a file beneath the root; anything else is left alone. False: it is still there.
  func delete(_ path: String) -> Bool {
    guard contains(path) else { return false }
    return unlink(path) == 0 || errno == ENOENT
  }

  /// The paths of all files beneath the root but those that are coming in, sorted.
  ///
  /// - Throws: ``SyncErrorCode/store`` for a directory that cannot be read.
  @concurrent func all() async throws(SyncError) -> [String] {
    var files: [String] = []
    var folders = [root]
    while let folder = folders.popLast() {
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: folder)
      } catch {
        throw SyncError(.store, "\(folder) cannot be listed: \(error)", originalError: error)
      }
      for name in names where !(folder == root && name == Folder.incoming.rawValue) {
        let path = "\(folder)/\(name)"
        var info = stat()
        guard lstat(path, &info) == 0 else { continue }
        if info.st_mode & S_IFMT == S_IFDIR { folders.append(path) } else { files.append(path) }
      }
    }
    return files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // MARK: The operating system

  private static func openSource(_ path: String) throws(SyncError) -> Int32 {
    // Not to wait for the other end of a pipe.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0 { throw error(.transfer, "\(path) cannot be read") }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw SyncError(.transfer, "\(path) is no file")
    }
    return file
  }

  /// Reads to the end; gives each piece to `body`.
  private static func digest(
    of file: Int32, at path: String, _ body: (UnsafeRawBufferPointer) throws(SyncError) -> Void
  ) throws(SyncError) -> Digest {
    guard let hash = SHA256() else { throw SyncError(.store, "there is no memory to read \(path)") }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceByteCount, alignment: 16)
    defer { buffer.deallocate() }
    var byteCount: Int64 = 0
    while true {
      let got = Glibc.read(file, buffer.baseAddress, buffer.count)
      if got < 0, errno == EINTR { continue }
      if got < 0 { throw error(.transfer, "\(path) cannot be read") }
      if got == 0 { return Digest(sha256: hash.finish(), byteCount: byteCount) }
      let piece = UnsafeRawBufferPointer(rebasing: buffer[..<got])
      hash.add(piece)
      try body(piece)
      byteCount += Int64(got)
    }
  }

  private static func write(_ piece: UnsafeRawBufferPointer, to file: Int32, at path: String) throws(SyncError) {
    var written = 0
    while written < piece.count {
      let put = Glibc.write(file, piece.baseAddress?.advanced(by: written), piece.count - written)
      if put < 0, errno == EINTR { continue }
      if put <= 0 { throw error(.store, "\(path) cannot be written") }
      written += put
    }
  }

  /// What `errno` says now.
  private static func error(_ code: SyncErrorCode, _ what: String) -> SyncError {
    let number = errno
    let originalError = POSIXErrorCode(rawValue: number).map { POSIXError($0) }
    return SyncError(code, "\(what): \(String(cString: strerror(number)))", originalError: originalError)
  }
}
