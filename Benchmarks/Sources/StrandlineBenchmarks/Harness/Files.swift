internal import CReference
internal import Glibc

// Directories of test data. None of this is timed.

func makeDirectories(_ path: String) throws {
  guard mkdir(path, 0o755) != 0 else { return }
  switch errno {
  case EEXIST: return
  case ENOENT:
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { break }
    try makeDirectories(String(path[..<slash]))
    guard mkdir(path, 0o755) != 0, errno != EEXIST else { return }
  default: break
  }
  throw BenchmarkError.ioFailed(operation: "make directory", path: path, errno: errno)
}

/// Names in a directory without `.` and `..`, sorted.
func names(in path: String) throws -> [String] {
  guard let directory = opendir(path) else {
    throw BenchmarkError.ioFailed(operation: "list", path: path, errno: errno)
  }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names.sorted()
}

func isDirectory(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

/// Removes a file or a directory and what is in it; nothing there is fine.
func removeTree(_ path: String) throws {
  if isDirectory(path) {
    for name in try names(in: path) { try removeTree("\(path)/\(name)") }
    guard rmdir(path) == 0 else {
      throw BenchmarkError.ioFailed(operation: "remove", path: path, errno: errno)
    }
  } else if unlink(path) != 0 && errno != ENOENT {
    throw BenchmarkError.ioFailed(operation: "remove", path: path, errno: errno)
  }
}

/// Every regular file under `path`, or `path` itself.
func files(under path: String) throws -> [String] {
  guard isDirectory(path) else { return [path] }
  return try names(in: path).flatMap { try files(under: "\(path)/\($0)") }
}

func byteCount(ofFile path: String) throws -> Int {
  var status = stat()
  guard lstat(path, &status) == 0 else {
    throw BenchmarkError.ioFailed(operation: "stat", path: path, errno: errno)
  }
  return Int(status.st_size)
}

func byteCount(under path: String) throws -> Int {
  try files(under: path).reduce(0) { sum, file in try sum + byteCount(ofFile: file) }
}

/// Copies a file, or a directory with all that is in it, to a path where nothing is.
func copyTree(_ source: String, to target: String) throws {
  guard isDirectory(source) else {
    let failure = reference_copy_file(source, target)
    guard failure == 0 else { throw BenchmarkError.ioFailed(operation: "copy", path: source, errno: failure) }
    return
  }
  try makeDirectories(target)
  for name in try names(in: source) { try copyTree("\(source)/\(name)", to: "\(target)/\(name)") }
}

/// Evicts every file under `path` from the page cache.
func dropCache(under path: String) throws {
  for file in try files(under: path) {
    let failure = reference_drop_cache(file)
    guard failure == 0 else { throw BenchmarkError.ioFailed(operation: "drop cache", path: file, errno: failure) }
  }
}

/// Reads every file under `path` once, so that it is in the page cache.
func warmCache(under path: String) throws {
  for file in try files(under: path) {
    var count: UInt64 = 0
    var seconds = 0.0
    let failure = reference_raw_read(file, &count, &seconds)
    guard failure == 0 else { throw BenchmarkError.ioFailed(operation: "read", path: file, errno: failure) }
  }
}

func readText(_ path: String) throws -> String {
  guard let file = fopen(path, "r") else {
    throw BenchmarkError.ioFailed(operation: "open", path: path, errno: errno)
  }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 64 << 10)
  while true {
    let count = fread(&buffer, 1, buffer.count, file)
    guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
    bytes.append(contentsOf: buffer[..<count])
  }
}

func writeText(_ text: String, to path: String) throws {
  guard let file = fopen(path, "w") else {
    throw BenchmarkError.ioFailed(operation: "open", path: path, errno: errno)
  }
  let bytes = Array(text.utf8)
  let count = fwrite(bytes, 1, bytes.count, file)
  guard fclose(file) == 0, count == bytes.count else {
    throw BenchmarkError.ioFailed(operation: "write", path: path, errno: errno)
  }
}
