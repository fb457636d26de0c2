import Foundation
import Glibc
import StrandlineTestSupport
import Testing

@testable import StrandlineLog
@testable import strandline

/// `strandline log` on what is damaged, foreign, or not there.
struct LogInspectDamageTests {
  @Test func `an empty directory has no store yet, and a path that is not there is an error`() throws {
    let store = try InspectedStore(empty: ())
    for words in InspectedStore.lookers where words[0] != "diff" && words[0] != "hexdump" {
      let run = store.log(words)
      #expect(run.code == .success, "\(words)")
      #expect(run.out.contains("no store") || run.err.contains("no store") || words.contains("--json"), "\(words)")
    }
    #expect(rmdir(store.path) == 0)
    for words in InspectedStore.lookers {
      let run = store.log(words)
      #expect(run.code == .ioFailure, "\(words)")
      #expect(run.err.split(separator: "\n").count == 1, "\(words)")
    }
    #expect(store.log("salvage", "%", "--to", store.scratch.file("new")).code == .ioFailure)
  }

  @Test(arguments: [0, 1, 100, 4095, 4096, 9000])
  func `a file that is no segment gets a message`(byteCount: Int) throws {
    let store = try InspectedStore(empty: ())
    let file = store.scratch.write([UInt8](repeating: 0x41, count: byteCount), to: "file")
    for words in InspectedStore.lookers {
      let run = store.log(words.map { $0 == "%" ? file : $0 })
      #expect(run.code != .success, "\(words)")
      #expect(!run.err.isEmpty || !run.out.isEmpty, "\(words)")
    }
    #expect(store.log("verify", file).code == .corruption)
    let other = try InspectedStore()
    #expect(other.log("diff", "%", file).code == .corruption)
    let salvage = store.log("salvage", file, "--to", store.scratch.file("new"))
    #expect(salvage.code == .corruption)
    #expect(salvage.err.hasSuffix("Nothing in it can be saved.\n"))
  }

  @Test func `info says what is damaged, where, what was expected and found, and what to do`() throws {
    let store = try InspectedStore()
    #expect(!store.log("info", "%").out.contains("DAMAGED"))
    let file = try #require(try store.segments.last)
    // A payload that a later frame vouches for; the header of a segment, both copies; META, both slots.
    try store.edit(file) { $0[4096 + 64 + 20] ^= 1 }
    let body = store.log("info", "%")
    #expect(body.code == .corruption)
    #expect(body.out.contains("DAMAGED: open refuses the store\n"))
    #expect(body.out.contains("  what       a confirmed frame is damaged (frameDamaged)\n"))
    #expect(body.out.contains("  where      \(file), byte 4096\n"))
    #expect(body.out.contains("  expected   ") && body.out.contains("  found      "))
    #expect(body.out.contains("one flipped bit explains it"))
    #expect(
      body.out.contains("`strandline log verify`") && body.out.contains("`strandline log salvage STORE --to NEW`"))
    let json = try #require(try parsedJSON(store.log("info", "%", "--json").out) as? [String: Any])
    let damage = try #require(json["damage"] as? [String: Any])
    #expect(damage["file"] as? String == file && damage["offset"] as? Int == 4096)
    #expect(damage["isSingleBit"] as? Bool == true)
    try store.edit(file) { bytes in
      for copy in [0, 2048] { bytes[copy + 60] ^= 0xFF }
    }
    let header = store.log("info", "%")
    #expect(header.code == .corruption)
    #expect(header.out.contains("(segmentHeaderDamaged)") && header.out.contains("\(file), byte 0\n"))
    try store.edit("\(store.path)/META") { bytes in
      for slot in [0, 4096] { bytes[slot + 60] ^= 0xFF }
    }
    let root = store.log("info", "%")
    #expect(root.code == .corruption)
    #expect(root.out.contains("(rootDamaged)") && root.out.contains("\(store.path)/META, byte 0\n"))
  }

  @Test func `info tells of a torn tail`() throws {
    let store = try InspectedStore(closes: false)
    let file = try #require(try store.segments.last)
    let tail = try #require(try parsedJSON(store.log("tail", "%", "--json").out) as? [String: Any])
    let end = try #require(tail["commitEndOffset"] as? Int)
    try store.edit(file) { $0[end + 3] = 9 }
    let info = store.log("info", "%")
    #expect(info.code == .finding)
    #expect(info.out.contains("4 bytes behind byte \(end), never confirmed"))
  }

  /// What may stand where a file or a directory of a store belongs.
  enum WrongKind: CaseIterable {
    case directory, fifo, linkToItself, linkToNowhere, linkToDevice, socket, emptyFile

    func make(at path: String) {
      switch self {
      case .directory: mkdir(path, 0o755)
      case .fifo: mkfifo(path, 0o644)
      case .linkToItself: symlink(path, path)
      case .linkToNowhere: symlink(path + "-nowhere", path)
      case .linkToDevice: symlink("/dev/zero", path)
      case .socket: mknod(path, S_IFSOCK | 0o644, 0)
      case .emptyFile: close(open(path, O_WRONLY | O_CREAT, 0o644))
      }
    }
  }

  @Test(arguments: WrongKind.allCases)
  func `another kind of file in the place of one of ours is corruption for every command`(kind: WrongKind) throws {
    for place in ["META", "segment", "store"] {
      let store = try InspectedStore()
      let path =
        place == "store" ? store.path : place == "META" ? "\(store.path)/META" : try #require(try store.segments.last)
      if place == "store" {
        rename(path, path + "-moved")
        // A directory in the place of a directory is an empty store.
        if kind == .directory { continue }
      } else {
        unlink(path)
      }
      kind.make(at: path)
      let context: Comment = "\(kind) as \(place)"
      for words in [["info", "%"], ["verify", "%"], ["tail", "%"], ["list", "%"], ["events", "%"], ["gaps", "%"]] {
        let run = store.log(words)
        #expect(run.code == .corruption, "\(context), \(words): \(run.err)")
      }
      // The tool's own process: append reads standard input, and must not hang.
      let append = try ToolRun(["log", "append", store.path], input: Array("a line\n".utf8))
      #expect(append.ending == .exited(3), "\(context): \(append.errorText)")
      let readOnly = #expect(throws: LogError.self, context) {
        var options = LogOptions()
        options.access = .readOnly
        _ = try Log.open(at: store.path, options: options)
      }
      #expect(readOnly.map(Failure.code) == .corruption, "\(context): \(String(describing: readOnly))")
    }
  }

  @Test func `an epoch that is not there and a place inside the store are mistakes, and nothing is made`() throws {
    let store = try InspectedStore(isReset: true)
    let before = try store.fingerprint
    let new = store.scratch.file("new")
    let epoch = store.log("salvage", "%", "--to", new, "--epoch", "7")
    #expect(epoch.code == .usage)
    #expect(epoch.err.contains("nothing of epoch 7 is in \(store.path)"))
    let inside = store.log("salvage", "%", "--to", "%/new")
    #expect(inside.code == .usage)
    #expect(inside.err.contains("lies inside the store that is read"))
    #expect(store.log("salvage", "%", "--to", "").code == .usage)
    #expect(access(new, F_OK) != 0)
    #expect(try store.fingerprint == before)
  }

  @Test func `a lost end is never called nothing, with and without the mark behind it`() throws {
    let store = try InspectedStore(commitCount: 1)
    let file = try #require(try store.segments.last)
    let mark = try #require(try parsedJSON(store.log("list", "%", "--jsonl").lines.last ?? "") as? [String: Any])
    #expect(mark["kind"] as? String == "SYNCMARK")
    let place = try #require(mark["offset"] as? Int)
    let log = try Log.open(at: store.path)
    try log.append([Array("the last".utf8)])
    try log.close()
    // The header of the last commit: the mark behind it tells its number.
    try store.edit(file) { $0[place + 64 + 16] ^= 1 }
    let gaps = store.log("gaps", "%")
    #expect(gaps.code == .corruption)
    #expect(gaps.out.hasPrefix("2\tdamaged\t"))
    let first = store.log("salvage", "%", "--to", store.scratch.file("first"))
    #expect(first.code == .finding)
    #expect(first.out.contains("  lost   commit 2: damaged\n"))
    // Without the mark nobody can tell.
    try store.edit(file) { $0.removeLast($0.count - place - 64 - 8) }
    let blind = store.log("gaps", "%")
    #expect(blind.code == .corruption)
    #expect(blind.out.isEmpty && blind.err.contains("nothing tells which commits stood there"))
    let second = store.log("salvage", "%", "--to", store.scratch.file("second"))
    #expect(second.code == .finding)
    #expect(second.out.contains("  lost   the end of \(file), byte \(place + 64) to "))
    let json = store.log("salvage", "%", "--to", store.scratch.file("third"), "--json")
    let report = try #require(try parsedJSON(json.out) as? [String: Any])
    #expect(report["complete"] as? Bool == false)
    #expect((report["lostEnd"] as? [String: Any])?["offset"] as? Int == place + 64)
  }

  @Test func `a FIFO, a link and a device are not read as a store`() throws {
    let store = try InspectedStore(empty: ())
    let fifo = store.scratch.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let link = store.scratch.file("link")
    #expect(symlink("/etc/passwd", link) == 0)
    for path in [fifo, link, "/dev/zero"] {
      let run = store.log("verify", path)
      #expect(run.code == .corruption, "\(path)")
      #expect(run.err.contains("not a file of a Strandline store"))
    }
    // A link to a store leads to it.
    let healthy = try InspectedStore()
    let other = store.scratch.file("other")
    #expect(symlink(healthy.path, other) == 0)
    #expect(store.log("verify", other).code == .success)
  }

  enum Stranger: String, CaseIterable { case fifo, directory, link, empty, missing }

  @Test(arguments: Stranger.allCases)
  func `whatever stands in a file's place, every command ends with a message`(stranger: Stranger) throws {
    for target in ["META", "first segment", "last segment"] {
      let store = try InspectedStore()
      let segments = try store.segments
      let file = target == "META" ? "\(store.path)/META" : target == "first segment" ? segments[0] : segments.last!
      #expect(unlink(file) == 0)
      switch stranger {
      case .fifo: #expect(mkfifo(file, 0o600) == 0)
      case .directory: #expect(mkdir(file, 0o700) == 0)
      case .link: #expect(symlink("/etc/passwd", file) == 0)
      case .empty: try InspectedStore.touch(file)
      case .missing: break
      }
      let before = try store.fingerprint
      for words in InspectedStore.lookers {
        let run = store.log(words)
        #expect(run.code == .corruption, "\(stranger) for \(target), \(words): \(run.code) \(run.err)")
      }
      let new = store.scratch.file("new")
      let salvage = store.log("salvage", "%", "--to", new)
      #expect(salvage.code == (target == "META" ? .success : .finding), "\(stranger) for \(target): \(salvage)")
      #expect(store.log("verify", new).code == .success)
      #expect(try store.fingerprint == before)
    }
  }

  @Test func `a torn tail is a finding, and named with file and offset`() throws {
    let store = try InspectedStore(commitCount: 5, closes: false)
    let file = try #require(try store.segments.last)
    let json = try #require(try parsedJSON(store.log("tail", "%", "--json").out) as? [String: Any])
    let end = try #require(json["verifiedEndOffset"] as? Int)
    try store.edit(file) { $0.replaceSubrange(end..<end + 30, with: [UInt8](repeating: 7, count: 30)) }
    let verify = store.log("verify", "%")
    #expect(verify.code == .finding)
    #expect(verify.out.contains("finding: \(file):\(end): torn tail"))
    #expect(store.log("tail", "%").code == .finding)
    #expect(store.log("events", "%").code == .finding)
    #expect(store.log("list", "%").code == .finding)
    let log = try Log.open(at: store.path)
    #expect(log.openReport.cut?.offset == Int64(end))
    try log.close()
  }

  @Test(arguments: [1, 30, 200_000])
  func `what is cut is counted without the space ahead behind it`(byteCount: Int) throws {
    let store = try InspectedStore(commitCount: 5, closes: false)
    let file = try #require(try store.segments.last)
    let json = try #require(try parsedJSON(store.log("tail", "%", "--json").out) as? [String: Any])
    let end = try #require(json["verifiedEndOffset"] as? Int)
    #expect(json["contentEndOffset"] as? Int == end)
    try store.edit(file) { bytes in
      let stray = [UInt8](repeating: 7, count: byteCount)
      bytes = Array(bytes[..<end]) + stray + [UInt8](repeating: 0, count: 300_000)
    }
    let bytes = byteCount == 1 ? "1 byte" : "\(byteCount) bytes"
    let tail = store.log("tail", "%").out
    #expect(tail.contains("torn (rule 9): \(bytes) behind U, never confirmed; the next writable open cuts them"))
    #expect(tail.contains("behind X   \(bytes), then 300000 of zeros; 0 frame headers among them verify"))
    let log = try Log.open(at: store.path)
    #expect(log.openReport.cut?.byteCount == Int64(byteCount))
    try log.close()
  }

  @Test func `damage to what was confirmed is exit 3, named with file and offset, and explained by its one bit`() throws
  {
    let store = try InspectedStore(commitCount: 20)
    let file = try store.segments[1]
    try store.edit(file) { $0[4096 + 70] ^= 0x10 }
    let before = try store.fingerprint
    let verify = store.log("verify", "%")
    #expect(verify.code == .corruption)
    #expect(verify.out.contains("corrupt: \(file):4160: "))
    #expect(verify.out.contains("one flipped bit explains it: byte 4166, bit 4"))
    #expect(store.log("list", "%").out.contains("one flipped bit explains it: payload byte 6, bit 4"))
    #expect(throws: LogError.self) { try Log.open(at: store.path) }
    let gaps = try parsedJSON(store.log("gaps", "%", "--jsonl").out) as? [String: Any]
    let lost = try #require(gaps?["from"] as? Int)
    #expect(gaps?["to"] as? Int == lost)
    #expect(gaps?["reason"] as? String == "damaged")
    let new = store.scratch.file("new")
    let salvage = store.log("salvage", "%", "--to", new, "--json")
    #expect(salvage.code == .finding)
    let report = try #require(try parsedJSON(salvage.out) as? [String: Any])
    #expect((report["gaps"] as? [[String: Any]])?.first?["from"] as? Int == lost)
    #expect(report["commits"] as? Int == 19)
    #expect(store.log("salvage", "%", "--to", new).code == .usage)
    let events = store.log("events", "%", "--jsonl")
    #expect(events.code == .corruption)
    #expect(store.log("events", "%").out == store.log("events", new).out)
    #expect(try store.fingerprint == before)
    let log = try Log.open(at: new)
    #expect(log.openReport.commitCount == 20)
    try log.close()
  }

  @Test func `a newer store is refused by every command that reads frames, and changed by none`() throws {
    let store = try InspectedStore()
    // Major version 2 with a right tag: as a newer release would write it.
    for file in try store.segments {
      try store.edit(file) { bytes in
        for offset in [0, 2048] {
          bytes[offset + 8] = 2
          let tag = Tag.of(Array(bytes[offset..<offset + 152]), seed: 0)
          for index in 0..<8 { bytes[offset + 152 + index] = UInt8(truncatingIfNeeded: tag >> UInt64(index * 8)) }
        }
      }
    }
    let before = try store.fingerprint
    let verify = store.log("verify", "%")
    #expect(verify.code == .corruption)
    #expect(verify.out.contains("format version 2"))
    #expect(store.log("events", "%").code == .corruption)
    #expect(try store.fingerprint == before)
  }

  /// Random damage on disk, and every command on it: T25 of the test plan.
  @Test func `random damage never stops a command, breaks its JSON or changes the store`() throws {
    let caseCount = 40 * SoakScale.factor
    var generator = SeededGenerator(seed: 25)
    let store = try InspectedStore(commitCount: 12, isReset: true)
    var pristine: [String: [UInt8]] = [:]
    for name in try DirectoryTree.names(in: store.path) {
      pristine["\(store.path)/\(name)"] = [UInt8](FileManager.default.contents(atPath: "\(store.path)/\(name)")!)
    }
    let files = pristine.keys.filter { !$0.hasSuffix("LOCK") }.sorted()
    var codes: [ExitCode: Int] = [:]
    for number in 0..<caseCount {
      let file = files.randomElement(using: &generator)!
      try store.edit(file) { bytes in
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
        case 1: bytes += generator.bytes(Int.random(in: 1..<5000, using: &generator))
        case 2:
          let start = Int.random(in: 0..<bytes.count, using: &generator)
          let end = min(bytes.count, start + Int.random(in: 1..<2000, using: &generator))
          bytes.replaceSubrange(start..<end, with: generator.bytes(end - start))
        default:
          let place = Int.random(in: 0..<min(bytes.count, 8192), using: &generator)
          bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
      }
      let before = try store.fingerprint
      for words in InspectedStore.lookers {
        let run = store.log(words)
        codes[run.code, default: 0] += 1
        #expect([.success, .finding, .corruption].contains(run.code), "case \(number), \(words): \(run.err)")
        #expect(run.out.utf8.count < 4 << 20)
        if words.contains("--json"), !run.out.isEmpty { _ = try parsedJSON(run.out) }
        if words.contains("--jsonl") { for line in run.lines { _ = try parsedJSON(line) } }
      }
      #expect(try store.fingerprint == before, "case \(number)")
      for (path, bytes) in pristine { try store.edit(path) { $0 = bytes } }
    }
    print("dump tool: \(caseCount) damaged stores, \(codes.map { "\($0.key): \($0.value)" }.sorted())")
  }
}

extension InspectedStore {
  static func touch(_ path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure(.ioFailure, path) }
    close(file)
  }
}
