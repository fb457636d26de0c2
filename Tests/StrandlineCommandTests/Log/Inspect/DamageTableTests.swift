import Foundation
import Glibc
import StrandlineLog
import Testing

@testable import strandline

/// The exit code is the damage's, not the command's: each kind of damage under every command of `strandline log` that looks.
struct DamageTableTests {
  struct Row: CustomTestStringConvertible {
    var name: String
    var code: ExitCode
    /// Whether META, headers and the end of the log show it, so that every command does.
    var isSeenByAll = true
    var closes = true
    var make: @Sendable (InspectedStore) throws -> Void

    var testDescription: String { name }
  }

  private static let walkers = ["list", "events", "verify", "gaps", "diff"]
  private static let commands: [[String]] = [
    ["info", "%"], ["info", "%", "--json"], ["list", "%"], ["list", "%", "--jsonl"], ["events", "%"],
    ["events", "%", "--jsonl"], ["verify", "%"], ["verify", "%", "--json"], ["tail", "%"], ["tail", "%", "--json"],
    ["gaps", "%"], ["gaps", "%", "--jsonl"], ["diff", "%", "%"], ["hexdump", "%", "--lsn", "4096"],
  ]

  private static func cut(_ place: Int, to byteCount: Int) -> Row {
    Row(name: "segment \(place) cut to \(byteCount) bytes", code: .corruption) { store in
      let segments = try store.segments
      try store.edit(segments[(place + segments.count) % segments.count]) { bytes in
        bytes.removeLast(bytes.count - byteCount)
      }
    }
  }

  private static func root(_ name: String, _ code: ExitCode, _ change: @escaping @Sendable (inout [UInt8]) -> Void)
    -> Row
  {
    Row(name: "META: \(name)", code: code) { store in try store.edit("\(store.path)/META", change) }
  }

  private static func segment(
    _ place: Int, _ name: String, _ code: ExitCode, isSeenByAll: Bool = true, closes: Bool = true,
    _ change: @escaping @Sendable (inout [UInt8]) -> Void
  ) -> Row {
    Row(name: "segment \(place): \(name)", code: code, isSeenByAll: isSeenByAll, closes: closes) { store in
      let segments = try store.segments
      try store.edit(segments[(place + segments.count) % segments.count], change)
    }
  }

  private static func replaced(_ name: String, by kind: String, _ make: @escaping @Sendable (String) -> Void) -> Row {
    Row(name: "\(name): \(kind)", code: .corruption) { store in
      let path = name == "META" ? "\(store.path)/META" : try #require(try store.segments.last)
      unlink(path)
      make(path)
    }
  }

  static let rows: [Row] =
    [
      Row(name: "nothing", code: .success) { _ in },
      Row(name: "other files beside", code: .success) { store in
        for number in 0..<30 { try InspectedStore.touch("\(store.path)/note \(number)") }
      },
    ]
    + [0, 1, 100, 159, 160, 2047, 2048, 2207, 2208, 3000, 4095, 4096, 4100].map { cut(-1, to: $0) }
    + [0, 3000, 4096, 4500].map { cut(1, to: $0) }
    + [
      root("one bit of one slot", .finding) { $0[70] ^= 1 },
      root("one slot zero", .finding) { bytes in for index in 0..<4096 { bytes[index] = 0 } },
      root("one bit of each slot", .corruption) { bytes in for slot in [0, 4096] { bytes[slot + 70] ^= 1 } },
      root("empty", .corruption) { $0 = [] },
      root("too short", .corruption) { $0.removeLast(1) },
      root("too long", .corruption) { $0.append(0) },
      Row(name: "META: missing", code: .corruption) { store in unlink("\(store.path)/META") },
      Row(name: "first segment missing", code: .corruption) { store in unlink(try store.segments[0]) },
      Row(name: "middle segment missing", code: .corruption) { store in unlink(try store.segments[2]) },
      Row(name: "last segment missing", code: .corruption) { store in unlink(try #require(try store.segments.last)) },
    ]
    + ["META", "last segment"].flatMap { name in
      [
        replaced(name, by: "directory") { mkdir($0, 0o700) }, replaced(name, by: "link") { symlink("/etc/passwd", $0) },
        replaced(name, by: "FIFO") { mkfifo($0, 0o600) },
      ]
    }
    + [
      segment(-1, "one copy of the header", .corruption) { $0[60] ^= 1 },
      segment(1, "one copy of the header", .corruption) { $0[2048 + 60] ^= 1 },
      segment(-1, "both copies of the header", .corruption) { bytes in for copy in [0, 2048] { bytes[copy + 60] ^= 1 }
      },
      segment(1, "both copies of the header", .corruption) { bytes in for copy in [0, 2048] { bytes[copy + 60] ^= 1 } },
      segment(-1, "unused bytes of the header block", .corruption) { $0[1000] = 1 },
      segment(1, "bytes behind the end", .corruption) { $0 += [1, 2, 3, 4, 5, 6, 7, 8] },
      segment(1, "zeros behind the end", .success) { $0 += [UInt8](repeating: 0, count: 8) },
      segment(-1, "a bit of a confirmed payload", .corruption) { $0[4096 + 64 + 20] ^= 1 },
      segment(-1, "a bit of a confirmed frame's header", .corruption) { $0[4096 + 20] ^= 1 },
      segment(1, "a bit of a payload", .corruption, isSeenByAll: false) { $0[4096 + 64 + 20] ^= 1 },
      segment(1, "a bit of a frame's header", .corruption, isSeenByAll: false) { $0[4096 + 20] ^= 1 },
      segment(-1, "a torn tail", .finding, closes: false) { bytes in
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) / 8 * 8 + 64
        for index in end..<end + 30 { bytes[index] = 7 }
      },
      Row(name: "a copy of a segment under another name", code: .finding) { store in
        let file = try store.segments[1]
        let bytes = [UInt8](FileManager.default.contents(atPath: file) ?? Data())
        let name = try #require(file.split(separator: "/").last).dropLast(20) + "0123456789abcdef.log"
        store.scratch.write(bytes, to: "store/\(name)")
      },
      Row(name: "a segment that was never finished", code: .finding) { store in
        let last = try store.segments.count
        let number = String(last + 1)
        let name = "seg-\(String(repeating: "0", count: 20 - number.count))\(number)-0123456789abcdef.log"
        store.scratch.write([UInt8](repeating: 0, count: 4096), to: "store/\(name)")
      },
    ]

  @Test(arguments: rows)
  func `one kind of damage ends every command with one exit code`(row: Row) throws {
    let store = try InspectedStore(commitCount: 40, closes: row.closes)
    #expect(try store.segments.count > 3)
    try row.make(store)
    let before = try store.fingerprint
    for words in Self.commands {
      let run = store.log(words)
      let isSeen = row.isSeenByAll || Self.walkers.contains(words[0])
      #expect(run.code == (isSeen ? row.code : .success), "\(words): \(run.out.suffix(600)) \(run.err)")
      #expect(run.code == .success || !(run.out + run.err).isEmpty, "\(words)")
    }
    #expect(try store.fingerprint == before)
  }

  @Test func `a directory without a store is empty or somebody else's, for every command alike`() throws {
    let store = try InspectedStore(empty: ())
    func codes() -> Set<ExitCode> { Set(Self.commands.filter { $0[0] != "hexdump" }.map { store.log($0).code }) }
    #expect(codes() == [.success])
    // What a creation leaves that a crash ended is no store yet.
    try InspectedStore.touch("\(store.path)/META.tmp")
    #expect(codes() == [.success])
    unlink("\(store.path)/META.tmp")
    for number in 0..<50 { try InspectedStore.touch("\(store.path)/file-\(number)") }
    #expect(codes() == [.corruption])
    for words in Self.commands {
      let run = store.log(words)
      #expect(run.code == .corruption, "\(words)")
      #expect((run.out + run.err).contains("no store here: the 50 names in it are no file of a store"), "\(words)")
      // One document lists what there is, for programs.
      #expect(words == ["info", "%", "--json"] || !(run.out + run.err).contains("file-30"), "\(words)")
    }
    let salvage = store.log("salvage", "%", "--to", store.scratch.file("new"))
    #expect(salvage.code == .corruption && salvage.err.contains("not a file of a Strandline store"), "\(salvage.err)")
  }

  @Test func `names that are not ours are told up to a limit`() throws {
    let store = try InspectedStore()
    for number in 0..<50 { try InspectedStore.touch("\(store.path)/file-\(number)") }
    let run = store.log("verify", "%")
    #expect(run.code == .success)
    #expect(run.lines.count { $0.hasPrefix("note: ") } == 11, "\(run.out)")
    #expect(run.out.contains("and 40 more of these: no file of a store"))
    let info = store.log("info", "%").out
    #expect(
      info.contains("not ours     file-0, ") && info.contains(", and 40 more\n") && !info.contains("file-30"), "\(info)"
    )
  }

  @Test func `a layer that is missing ends every command with one exit code`() throws {
    let store = try TableStore(people: 20)
    #expect(store.run("compact", "%").code == .success)
    let layer = try #require(try DirectoryTree.names(in: store.path).first { $0.hasSuffix(".lyr") })
    unlink("\(store.path)/\(layer)")
    for words in Self.commands {
      let run = store.run(["log"] + words)
      #expect(run.code == .corruption, "\(words): \(run.out) \(run.err)")
    }
    for words in [
      ["query", "%", "--table", "people", "--count"], ["get", "%", "--table", "people", "--key", "1"],
      ["history", "%", "--table", "people", "--key", "1"], ["changes", "%"], ["stat", "%"], ["stat", "%", "--quick"],
    ] {
      let run = store.run(words)
      #expect(run.code == .corruption, "\(words): \(run.out) \(run.err)")
      #expect(run.err.contains(layer), "\(words): \(run.err)")
    }
  }
}
