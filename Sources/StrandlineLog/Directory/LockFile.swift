internal import Glibc

/// `LOCK`: who holds the store, for people. The lock itself is the `flock` on the directory, which no file can fake, outlive
/// or lose.
enum LockFile {
  static let name = "LOCK"
  private static let byteCount = 256

  /// Writes the calling process down. Information only: what fails here is passed over.
  static func write(in directory: StoreDirectory, now: Int64) {
    let owner = LockOwner(
      processID: getpid(), host: hostName(), bootID: bootID(in: directory.fileSystem), since: now / 1000)
    let text = "pid \(owner.processID)\nhost \(owner.host)\nboot \(owner.bootID)\nsince \(owner.since)\n"
    // A fixed size, overwritten in place: it can be written on a full disk.
    var bytes = Array(text.utf8.prefix(byteCount))
    bytes += [UInt8](repeating: UInt8(ascii: "\n"), count: byteCount - bytes.count)
    let path = directory.path(of: name)
    let fileSystem = directory.fileSystem
    do throws(Errno) {
      let isThere = try fileSystem.statusIfPresent(at: path) != nil
      let file = try fileSystem.openRetrying(path, isThere ? .readWrite : .create)
      defer { fileSystem.closeQuietly(file) }
      try bytes.span.bytes.withUnsafeBytes { (buffer) throws(Errno) in try fileSystem.writeAll(file, buffer, at: 0) }
    } catch {}
  }

  /// What the last owner wrote, if it can be read.
  static func read(in directory: StoreDirectory) -> LockOwner? {
    guard let text = text(at: directory.path(of: name), in: directory.fileSystem, byteCount: byteCount) else {
      return nil
    }
    var fields: [Substring: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1)
      if parts.count == 2 { fields[parts[0]] = String(parts[1]) }
    }
    guard let pid = fields["pid"].flatMap({ Int32($0) }), let since = fields["since"].flatMap({ Int64($0) })
    else { return nil }
    return LockOwner(processID: pid, host: fields["host"] ?? "", bootID: fields["boot"] ?? "", since: since)
  }

  private static func text(at path: String, in fileSystem: any FileSystem, byteCount: Int) -> String? {
    do throws(Errno) {
      let file = try fileSystem.openRetrying(path, .read)
      defer { fileSystem.closeQuietly(file) }
      return String(decoding: try fileSystem.readBytes(file, at: 0, byteCount: byteCount), as: UTF8.self)
    } catch {
      return nil
    }
  }

  private static func bootID(in fileSystem: any FileSystem) -> String {
    let id = text(at: "/proc/sys/kernel/random/boot_id", in: fileSystem, byteCount: 36)
    return id.map { String($0.prefix { $0 != "\n" }) } ?? ""
  }

  private static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 65)
    guard gethostname(&name, 64) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 && $0 != 0x0A }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
