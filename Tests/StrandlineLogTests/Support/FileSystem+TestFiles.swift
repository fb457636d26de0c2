import StrandlineLog

/// Whole files by path, for tests of file systems.
extension FileSystem {
  func make(_ path: String, _ bytes: [UInt8] = []) throws {
    let file = try open(path, .create)
    try put(file, bytes, at: 0)
    try close(file)
  }

  func put(_ file: FileDescriptor, _ bytes: [UInt8], at offset: Int64) throws {
    let count = try bytes.withUnsafeBytes { try write(file, $0, at: offset) }
    guard count == bytes.count else { throw ShortWrite(count: count) }
  }

  func overwrite(_ path: String, _ bytes: [UInt8], at offset: Int64 = 0, syncing: Bool = false) throws {
    let file = try open(path, .readWrite)
    try put(file, bytes, at: offset)
    if syncing { try syncData(file) }
    try close(file)
  }

  func sync(path: String) throws {
    let file = try open(path, .read)
    try sync(file)
    try close(file)
  }

  func bytes(of path: String) throws -> [UInt8] {
    let file = try open(path, .read)
    var bytes = [UInt8](repeating: 0, count: Int(try status(file).byteCount))
    let count = try bytes.withUnsafeMutableBytes { try read(file, into: $0, at: 0) }
    try close(file)
    return Array(bytes.prefix(count))
  }
}

struct ShortWrite: Error, Equatable { var count: Int }
