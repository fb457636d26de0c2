import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

struct SimulatedDiskLikenessTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func `random calls answer on the simulated disk what they answer on the machine's`(seed: UInt64) throws {
    let root = try #require(Self.makeTemporaryDirectory())
    defer { Self.remove(root) }
    var simulated = CallScript(fileSystem: SimulatedDisk(), root: "", seed: seed)
    var real = CallScript(fileSystem: PosixFileSystem(), root: root, seed: seed)
    for step in 0..<3_000 {
      let answers = (simulated.next(), real.next())
      try #require(answers.0 == answers.1, "seed \(seed), step \(step)")
    }
    simulated.closeAll()
    real.closeAll()
  }

  private static func makeTemporaryDirectory() -> String? {
    var template = Array("/tmp/strandline-XXXXXX".utf8CString)
    return mkdtemp(&template) == nil ? nil : String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
  }

  private static func remove(_ path: String) {
    let fileSystem = PosixFileSystem()
    for name in (try? fileSystem.list(path)) ?? [] {
      let child = path + "/" + name
      if (try? fileSystem.status(at: child))?.kind == .directory {
        remove(child)
      } else {
        try? fileSystem.unlink(child)
      }
    }
    try? fileSystem.removeDirectory(path)
  }
}

/// Draws calls from a seed and writes down what they answer.
private struct CallScript {
  let fileSystem: any FileSystem
  let root: String
  var generator: SeededGenerator
  var files: [FileDescriptor] = []

  init(fileSystem: any FileSystem, root: String, seed: UInt64) {
    self.fileSystem = fileSystem
    self.root = root
    generator = SeededGenerator(seed: seed)
  }

  mutating func next() -> String {
    let kind = Int.random(in: 0..<17, using: &generator)
    let (first, second) = (path(), path())
    let offset = Int64.random(in: 0..<3_000, using: &generator)
    let bytes = generator.bytes(Int.random(in: 1..<2_000, using: &generator))
    let file = files.randomElement(using: &generator)
    do {
      return try answer(kind, first, second, offset, bytes, file)
    } catch {
      return "\(kind) \(first) \(second): \(error)".replacing(root, with: "")
    }
  }

  mutating func closeAll() {
    for file in files { try? fileSystem.close(file) }
    files = []
  }

  private mutating func path() -> String {
    let name = ["/a", "/b", "/c", "/d"].randomElement(using: &generator)!
    return root + (Int.random(in: 0..<3, using: &generator) == 0 ? name + "/e" : name)
  }

  private mutating func answer(
    _ kind: Int, _ first: String, _ second: String, _ offset: Int64, _ bytes: [UInt8], _ file: FileDescriptor?
  ) throws -> String {
    switch kind {
    case 0: files.append(try fileSystem.open(first, .create))
    case 1: files.append(try fileSystem.open(first, .read))
    case 2: files.append(try fileSystem.open(first, .readWrite))
    case 3: try fileSystem.makeDirectory(first)
    case 4: try fileSystem.removeDirectory(first)
    case 5: try fileSystem.unlink(first)
    case 6: try fileSystem.link(first, to: second)
    case 7:
      // The one place where the simulated disk is stricter on purpose.
      let directories = [first, second].map { $0.utf8.split(separator: UInt8(ascii: "/")).dropLast().count }
      guard directories == [0, 0].map({ $0 + root.utf8.split(separator: UInt8(ascii: "/")).count }) else { break }
      try fileSystem.rename(first, to: second, replacing: offset % 2 == 0)
    case 8: return try fileSystem.list(first).sorted().joined(separator: " ")
    case 9: try fileSystem.syncDirectory(first)
    case 10:
      let status = try fileSystem.status(at: first)
      // A directory's size and links are the file system's own business.
      return status.kind == .directory ? "directory" : "\(status.kind) \(status.byteCount) \(status.linkCount)"
    case 11: return try file.map { "\(try write($0, bytes, offset))" } ?? "-"
    case 12: try file.map { try fileSystem.truncate($0, to: offset) }
    case 13: try file.map { try fileSystem.allocate($0, offset..<offset + Int64(bytes.count)) }
    case 14:
      guard let file else { break }
      var buffer = [UInt8](repeating: 0xEE, count: bytes.count)
      let count = try buffer.withUnsafeMutableBytes { try fileSystem.read(file, into: $0, at: offset) }
      return "\(count) \(buffer)"
    case 15: try file.map { try fileSystem.sync($0) }
    default:
      guard let file, files.count > 4 else { break }
      files.removeAll { $0 == file }
      try fileSystem.close(file)
    }
    return "\(kind) ok"
  }

  private func write(_ file: FileDescriptor, _ bytes: [UInt8], _ offset: Int64) throws -> Int {
    try bytes.withUnsafeBytes { try fileSystem.write(file, $0, at: offset) }
  }
}
