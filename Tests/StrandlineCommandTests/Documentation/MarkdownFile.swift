import Glibc

@testable import strandline

/// A Markdown file of this repository, cut into what the checks look at.
struct MarkdownFile: CustomStringConvertible {
  /// What stands between two lines of three backticks.
  struct Fence {
    /// The word behind the opening backticks.
    var language: String
    var lines: [String]
    /// Of the opening backticks, from 1.
    var lineNumber: Int
  }

  /// Relative to the repository.
  let path: String
  private(set) var fences: [Fence] = []
  /// Everything outside fences.
  private(set) var prose: [String] = []

  var description: String { path }

  init(_ path: String) throws {
    self.path = path
    var open: Fence?
    for (index, line) in try Repository.lines(of: path).enumerated() {
      if var fence = open {
        if line == "```" {
          fences.append(fence)
          open = nil
        } else {
          fence.lines.append(line)
          open = fence
        }
      } else if line.hasPrefix("```") {
        open = Fence(language: String(line.dropFirst(3)), lines: [], lineNumber: index + 1)
      } else {
        prose.append(line)
      }
    }
  }

  /// README, Docs and the documentation catalogs.
  static func all() throws -> [MarkdownFile] {
    try Repository.files(in: ".").filter { $0.hasSuffix(".md") }.map { try MarkdownFile($0) }
  }
}

/// The working copy that the tests were built from.
enum Repository {
  /// Absolute.
  static let path: String = {
    // This file lies four levels below.
    let words = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    return words.joined(separator: "/")
  }()

  static func exists(_ path: String) -> Bool { access("\(Self.path)/\(path)", F_OK) == 0 }

  static func lines(of path: String) throws -> [String] {
    guard let file = fopen("\(Self.path)/\(path)", "re") else {
      throw Failure(.ioFailure, "\(path): \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[0..<count] }
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last == "" { lines.removeLast() }
    return lines.map(String.init)
  }

  /// Regular files below `directory`, relative to the repository, without hidden ones.
  static func files(in directory: String) throws -> [String] {
    var files: [String] = []
    for name in try DirectoryTree.names(in: "\(path)/\(directory)") where !name.hasPrefix(".") {
      let inner = directory == "." ? name : "\(directory)/\(name)"
      var status = stat()
      guard lstat("\(path)/\(inner)", &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: files += try Self.files(in: inner)
      case S_IFREG: files.append(inner)
      default: continue
      }
    }
    return files
  }
}
