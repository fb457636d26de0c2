import Glibc

/// The changelogs in the package documentation of this machine.
///
/// Files that cannot be read, unpacked or understood are listed, and the rest is used.
struct ChangelogLibrary {
  /// One changelog file that held entries.
  struct File {
    /// The package in whose documentation it lies; several may come from one source package.
    var binaryPackage: String
    var path: String
    /// Newest first.
    var entries: [ChangelogEntry]
  }

  /// A file that gave nothing, and why.
  struct Failed: Equatable {
    var path: String
    var reason: String
  }

  /// In the order of their paths.
  private(set) var files: [File] = []
  private(set) var failed: [Failed] = []
  /// Files in some other format, such as upstream changelogs.
  private(set) var foreignCount = 0
  private(set) var malformedEntryCount = 0

  var entryCount: Int { files.reduce(0) { $0 + $1.entries.count } }

  static let standardDirectory = "/usr/share/doc"
  /// No changelog comes near it: the largest on a full desktop has some 10 MiB.
  static let inflatedByteCountMax = 64 << 20

  /// Reads `DIRECTORY/*/changelog*`. A file that is reachable by several names is read once.
  init(directory: String = standardDirectory, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }) {
    var paths: [(package: String, path: String)] = []
    // What cannot be listed, such as a plain file between the directories, holds no changelogs.
    for package in (try? DirectoryTree.names(in: directory)) ?? [] {
      for name in (try? DirectoryTree.names(in: "\(directory)/\(package)")) ?? [] where Self.isChangelogName(name) {
        paths.append((package, "\(directory)/\(package)/\(name)"))
      }
    }
    var seen: Set<FileIdentity> = []
    for (index, (package, path)) in paths.enumerated() {
      progress(index, paths.count)
      read(path, of: package, &seen)
    }
    progress(paths.count, paths.count)
  }

  private mutating func read(_ path: String, of package: String, _ seen: inout Set<FileIdentity>) {
    do {
      let (identity, bytes) = try Self.contents(of: path)
      guard seen.insert(identity).inserted else { return }
      let text =
        path.hasSuffix(".gz") ? try GzipInflater.inflate(bytes, limit: Self.inflatedByteCountMax) : bytes
      guard let result = ChangelogParser.parse(text) else {
        if !text.isEmpty { foreignCount += 1 }
        return
      }
      malformedEntryCount += result.malformedCount
      files.append(File(binaryPackage: package, path: path, entries: result.entries))
    } catch let failure as Failure {
      failed.append(Failed(path: path, reason: failure.message))
    } catch let problem as GzipInflater.Problem {
      failed.append(Failed(path: path, reason: problem.description))
    } catch {
      failed.append(Failed(path: path, reason: "\(error)"))
    }
  }

  private struct FileIdentity: Hashable {
    var device: UInt64
    var inode: UInt64
  }

  /// `changelog`, `changelog.gz`, `changelog.Debian.gz`, `changelog.Debian.amd64.gz`; not `changelog.html.gz`.
  private static func isChangelogName(_ name: String) -> Bool {
    guard name == "changelog" || name.hasPrefix("changelog.") else { return false }
    return ![".html", ".xz", ".bz2", ".zst"].contains(where: name.contains)
  }

  private static func contents(of path: String) throws(Failure) -> (FileIdentity, [UInt8]) {
    // O_NONBLOCK: a FIFO of that name must not stop us.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(.ioFailure, String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(.ioFailure, String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Failure(.ioFailure, "not a file") }
    guard status.st_size <= inflatedByteCountMax else {
      throw Failure(.ioFailure, "larger than \(HumanUnits.bytes(inflatedByteCountMax))")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + filled, $0.count - filled, off_t(filled))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Failure(.ioFailure, String(cString: strerror(errno))) }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(bytes.count - filled)
    return (FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)), bytes)
  }
}

extension GzipInflater.Problem: CustomStringConvertible {
  var description: String {
    switch self {
    case .notGzip: "not a gzip file"
    case .truncated: "the gzip file is cut short"
    case .damaged: "the gzip file is damaged"
    case .tooLarge(let limit): "unpacks to more than \(HumanUnits.bytes(limit))"
    }
  }
}
