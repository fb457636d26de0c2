import Foundation

/// Looks at the machine's own file system.
enum DirectoryProbe {
  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  static func write(_ bytes: [UInt8], to path: String) {
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
  }

  static func bytes(of path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a file's bytes meaningless.
  static func overwrite(_ path: String) {
    let count = (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0
    _ = FileManager.default.createFile(atPath: path, contents: Data(repeating: 0x5A, count: count))
  }
}
