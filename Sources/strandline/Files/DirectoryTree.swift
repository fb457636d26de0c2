import Glibc

/// Copies, removes and weighs directories with all that is in them. Never follows a symbolic link.
enum DirectoryTree {
  /// Makes a new, private directory whose name begins with `prefix` where temporary files belong.
  static func makeTemporary(prefix: String) throws(Failure) -> String {
    let parent = Console.environmentValue("TMPDIR") ?? "/tmp"
    var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw failure("make a directory in", parent) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Removes `path` if it is there.
  static func remove(_ path: String) throws(Failure) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return }
      throw failure("look at", path)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      for name in try names(in: path) { try remove("\(path)/\(name)") }
      guard rmdir(path) == 0 else { throw failure("remove", path) }
    } else {
      guard unlink(path) == 0 else { throw failure("remove", path) }
    }
  }

  /// Copies the directory `source` and its regular files to `target`, which must not exist. Nothing is synced.
  static func copy(_ source: String, to target: String) throws(Failure) {
    guard mkdir(target, 0o700) == 0 else { throw failure("make", target) }
    for name in try names(in: source) {
      let path = "\(source)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { throw failure("look at", path) }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try copy(path, to: "\(target)/\(name)")
      case S_IFREG: try copyFile(path, to: "\(target)/\(name)")
      default: continue
      }
    }
  }

  /// Bytes of all regular files under `path`, as their sizes say.
  static func byteCount(_ path: String) throws(Failure) -> Int {
    var total = 0
    for name in try names(in: path) {
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0 else { throw failure("look at", "\(path)/\(name)") }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: total += try byteCount("\(path)/\(name)")
      case S_IFREG: total += Int(status.st_size)
      default: continue
      }
    }
    return total
  }

  /// Regular files right in a directory, as far as it can be read just now.
  static func fileSizes(in path: String) -> [(name: String, byteCount: Int, modified: timespec)] {
    var files: [(name: String, byteCount: Int, modified: timespec)] = []
    for name in (try? names(in: path)) ?? [] {
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      files.append((name, Int(status.st_size), status.st_mtim))
    }
    return files
  }

  /// Names in a directory, sorted by bytes, without `.` and `..`.
  static func names(in path: String) throws(Failure) -> [String] {
    guard let stream = opendir(path) else { throw failure("list", path) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func copyFile(_ source: String, to target: String) throws(Failure) {
    let from = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard from >= 0 else { throw failure("open", source) }
    defer { close(from) }
    let to = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard to >= 0 else { throw failure("make", target) }
    defer { close(to) }
    while true {
      // Moves up to 1 GiB a call inside the kernel.
      let count = sendfile(to, from, nil, 1 << 30)
      if count == 0 { return }
      if count < 0, errno != EINTR { throw failure("copy", source) }
    }
  }

  private static func failure(_ verb: String, _ path: String) -> Failure {
    let reason = String(cString: strerror(errno))
    return Failure(.ioFailure, "cannot \(verb) \(path): \(reason)")
  }
}
