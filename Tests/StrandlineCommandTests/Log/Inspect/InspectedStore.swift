import Foundation
import Glibc
import StrandlineLog
import StrandlineTestSupport

@testable import strandline

/// A store on disk for the `log` commands, and the commands run on it in this process.
struct InspectedStore {
  let scratch: ScratchDirectory
  var path: String { scratch.file("store") }

  /// Commits of one to three records over several segments, a reset after the first few if `isReset`.
  init(commitCount: Int = 20, isReset: Bool = false, closes: Bool = true) throws {
    scratch = try ScratchDirectory()
    var options = LogOptions()
    options.segmentByteCountMax = 4096
    options.spaceAheadByteCount = 64 << 10
    options.helpers = .callerRuns
    let log = try Log.open(at: path, options: options)
    for value in 1...commitCount {
      if isReset, value == 4 { try log.reset(carrying: [Array("carried".utf8)]) }
      let text = String(repeating: "event \(value) ", count: 20)
      try log.append((0..<value % 3 + 1).map { Array("\(text)\($0)".utf8) })
    }
    if closes { try log.close() }
  }

  /// An empty directory for a test to fill.
  init(empty: Void) throws {
    scratch = try ScratchDirectory()
    mkdir(path, 0o700)
  }

  struct Run {
    var code: ExitCode
    var out: String
    var err: String
    var lines: [Substring] { out.split(separator: "\n") }
  }

  /// Runs `strandline log` in this process with `%` standing for the store's path.
  func log(_ words: String...) -> Run { log(words) }

  func log(_ words: [String]) -> Run {
    let console = Console(out: Output(descriptor: nil), err: Output(descriptor: nil))
    let arguments = ["log"] + words.map { $0.replacingOccurrences(of: "%", with: path) }
    let code = CommandRunner(root: StrandlineTool.root, version: "test").run(arguments, console: console)
    return Run(
      code: code, out: String(decoding: console.out.pending, as: UTF8.self),
      err: String(decoding: console.err.pending, as: UTF8.self))
  }

  /// Paths of the segments, in order.
  var segments: [String] {
    get throws { try DirectoryTree.names(in: path).filter { $0.hasPrefix("seg-") }.map { "\(path)/\($0)" } }
  }

  /// Everything in the directory that a reader could tell: names, kinds, bytes, inodes.
  var fingerprint: [String] {
    get throws {
      try DirectoryTree.names(in: path).map { name in
        var status = stat()
        lstat("\(path)/\(name)", &status)
        let isFile = status.st_mode & S_IFMT == S_IFREG
        let data = isFile ? FileManager.default.contents(atPath: "\(path)/\(name)") : nil
        let changed = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return "\(name) \(status.st_mode) \(status.st_ino) \(changed) \([UInt8](data ?? Data()).hashValue)"
      }
    }
  }

  /// Changes the bytes of a file in place.
  func edit(_ file: String, _ change: (inout [UInt8]) -> Void) throws {
    var bytes = [UInt8](FileManager.default.contents(atPath: file) ?? Data())
    change(&bytes)
    let descriptor = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC)
    precondition(descriptor >= 0 && write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
  }

  /// Commands that look and print, with the arguments they need.
  static let lookers: [[String]] = [
    ["info", "%"], ["info", "%", "--json"], ["list", "%"], ["list", "%", "--jsonl", "--all"], ["events", "%"],
    ["events", "%", "--jsonl", "--all"], ["verify", "%"], ["verify", "%", "--json"], ["tail", "%"],
    ["tail", "%", "--json"], ["gaps", "%"], ["gaps", "%", "--jsonl"], ["hexdump", "%", "--lsn", "4096"],
    ["hexdump", "%", "--lsn", "0"], ["diff", "%", "%"],
  ]
}

/// JSON read by somebody else's parser.
func parsedJSON(_ text: some StringProtocol) throws -> Any {
  try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
}
