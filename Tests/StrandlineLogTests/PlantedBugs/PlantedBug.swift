import Glibc
import StrandlineTestSupport

/// A patch of `Tests/Mutants`: what the bug is, the suites that must turn red, and what the diff expects of the sources.
struct PlantedBug {
  struct Hunk {
    var file: String
    /// Context and removed lines, as the file must have them.
    var expected: [Substring]
    var changesSomething: Bool
  }

  let name: String
  var explanation: [Substring] = []
  /// Alternatives of the filter behind `Tests:`.
  var suites: [Substring] = []
  var hunks: [Hunk] = []

  static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  static let directory = root + "/Tests/Mutants"

  init(named name: String) throws {
    self.name = name
    var file = ""
    let text = try Self.text(of: "\(Self.directory)/\(name)")
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("--- a/") {
        file = String(line.dropFirst(6))
      } else if line.hasPrefix("@@ ") {
        hunks.append(Hunk(file: file, expected: [], changesSomething: false))
      } else if file.isEmpty {
        if line.hasPrefix("Tests: ") {
          suites = line.dropFirst(7).split(separator: "|")
        } else if !line.isEmpty {
          explanation.append(line)
        }
      } else if !hunks.isEmpty, !line.hasPrefix("+++ ") {
        let index = hunks.count - 1
        if line.hasPrefix(" ") || line.hasPrefix("-") { hunks[index].expected.append(line.dropFirst()) }
        if line.hasPrefix("+") || line.hasPrefix("-") { hunks[index].changesSomething = true }
      }
    }
  }

  static func text(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = fread(&piece, 1, piece.count, file)
      if count == 0 { break }
      bytes += piece.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  struct Unreadable: Error { var path: String }
}
