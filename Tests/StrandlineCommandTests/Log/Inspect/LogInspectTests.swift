import Foundation
import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import strandline

/// `strandline log` on stores in good health.
struct LogInspectTests {
  @Test func `every looking command is fine with a healthy store and changes nothing`() throws {
    let store = try InspectedStore()
    let before = try store.fingerprint
    for words in InspectedStore.lookers {
      let run = store.log(words)
      #expect(run.code == .success, "\(words): \(run.err)")
      #expect(run.err.isEmpty, "\(words): \(run.err)")
      if words.contains("--json") { #expect(throws: Never.self) { try parsedJSON(run.out) } }
      if words.contains("--jsonl") { for line in run.lines { #expect(throws: Never.self) { try parsedJSON(line) } } }
    }
    #expect(try store.fingerprint == before)
  }

  @Test func `events are one object a record, in order`() throws {
    let store = try InspectedStore(commitCount: 7)
    let lines = store.log("events", "%", "--jsonl").lines
    let first = String(repeating: "event 1 ", count: 20)
    #expect(lines.first == #"{"schema":1,"sequence":1,"lsn":4096,"value":"\#(first)0"}"#[...])
    let sequences = try lines.map { try #require((try parsedJSON($0) as? [String: Any])?["sequence"] as? Int) }
    #expect(sequences == [1, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6, 7, 7])
    let some = store.log("events", "%", "--jsonl", "--from", "3", "--to", "4", "--values", "none").lines
    #expect(some.count == 3)
    #expect(try (parsedJSON(some[0]) as? [String: Any])?["byteCount"] as? Int == 161)
    #expect(store.log("events", "%", "--from", "5", "--to", "4").out.isEmpty)
    let hex = try parsedJSON(store.log("events", "%", "--jsonl", "--from", "3", "--to", "3", "--values", "hex").out)
    #expect(((hex as? [String: Any])?["valueHex"] as? String)?.hasPrefix("6576656e742033") == true)
  }

  @Test func `what a reset left behind is shown when asked for, and marked`() throws {
    let store = try InspectedStore(commitCount: 6, isReset: true)
    let live = try store.log("events", "%", "--jsonl").lines.map { try parsedJSON($0) as? [String: Any] }
    #expect(live.first??["value"] as? String == "carried")
    #expect(live.compactMap { $0?["sequence"] as? Int } == [4, 5, 5, 6, 6, 6, 7])
    let all = try store.log("events", "%", "--jsonl", "--all").lines.map { try parsedJSON($0) as? [String: Any] }
    #expect(all.count == live.count + 6)
    #expect(
      all.map { $0?["state"] as? String } == Array(repeating: "reset", count: 6) + Array(repeating: "live", count: 7))
    #expect(all.map { $0?["epoch"] as? Int } == Array(repeating: 0, count: 6) + Array(repeating: 1, count: 7))
  }

  @Test func `bytes that are no text, and those that would steer a terminal, come out harmless`() throws {
    let store = try InspectedStore(commitCount: 1)
    let log = try Log.open(at: store.path)
    try log.append([[0xFF, 0x00], Array("\u{1B}[31mred\u{07}\n".utf8)])
    try log.close()
    let lines = store.log("events", "%", "--jsonl", "--from", "2").lines
    #expect(lines[0].contains(#""valueHex":"ff00""#))
    #expect(lines[1].contains(#""value":"\u001b[31mred\u0007\n""#))
    let text = store.log("events", "%", "--from", "2")
    #expect(text.lines == ["2\t\\xff\\x00", "2\t\\x1b[31mred\\x07\\n"])
    // Names are data as well.
    let odd = store.scratch.file("o\u{1B}[31md")
    #expect(rename(store.path, odd) == 0)
    for words in InspectedStore.lookers {
      let run = store.log(words.map { $0 == "%" ? odd : $0 })
      #expect(!run.out.contains("\u{1B}") && !run.err.contains("\u{1B}"), "\(words)")
    }
  }

  @Test func `a segment file and a piece of one are readable by themselves`() throws {
    let store = try InspectedStore()
    let file = try #require(try store.segments.last)
    let whole = store.log("events", file, "--jsonl")
    #expect(whole.code == .success)
    #expect(whole.lines.last == store.log("events", "%", "--jsonl").lines.last)
    #expect(store.log("verify", file).code == .success)
    let middle = try store.segments[1]
    let inMiddle = store.log("events", middle, "--jsonl")
    let info = try parsedJSON(store.log("info", middle, "--json").out) as? [String: Any]
    let segment = try #require((info?["segments"] as? [[String: Any]])?.first)
    let salt = try #require(segment["salt"] as? String)
    let base = try #require(segment["baseLSN"] as? Int)
    // From somewhere inside the file to somewhere inside it.
    let piece = store.scratch.file("piece")
    let bytes = [UInt8](try #require(FileManager.default.contents(atPath: middle)))
    store.scratch.write(Array(bytes[4099..<5700]), to: "piece")
    let found = store.log("events", piece, "--jsonl", "--salt", salt, "--lsn-base", "\(base + 4099)")
    #expect(found.lines.count > 1)
    #expect(found.code != .success)
    for line in found.lines { #expect(inMiddle.lines.contains(line), "\(line)") }
    #expect(store.log("list", piece).code == .corruption)
    #expect(store.log("events", piece, "--salt", "zz", "--lsn-base", "0").code == .usage)
    #expect(store.log("events", piece, "--salt", "12").code == .usage)
  }

  @Test func `hexdump explains a frame and the header of a segment`() throws {
    let store = try InspectedStore(commitCount: 1)
    let frame = store.log("hexdump", "%", "--lsn", "4096")
    #expect(frame.out.contains("sequence   1\n"))
    #expect(frame.out.contains("00001000  f5 0d 0a 1a 01 00"))
    #expect(store.log("hexdump", "%", "--lsn", "0").out.contains("89 53 4c 53 0d 0a 1a 0a"))
    #expect(store.log("hexdump", "%", "--lsn", "4104").out.contains("no frame begins here"))
    #expect(store.log("hexdump", "%", "--lsn", "99999999").code == .finding)
    #expect(store.log("hexdump", "%").code == .usage)
  }

  @Test func `two stores are compared by what is in their commits`() throws {
    let store = try InspectedStore(commitCount: 5)
    let copy = store.scratch.file("copy")
    try DirectoryTree.copy(store.path, to: copy)
    #expect(store.log("diff", "%", copy).code == .success)
    let log = try Log.open(at: copy)
    try log.append([Array("more".utf8)])
    try log.append([Array("and more".utf8)])
    try log.close()
    let run = store.log("diff", "%", copy, "--jsonl")
    #expect(run.code == .finding)
    #expect(run.lines == [#"{"schema":1,"type":"onlyInB","from":6,"to":7}"#])
    let other = try InspectedStore(commitCount: 5)
    #expect(store.log("diff", "%", other.path).out.contains("identifier: "))
  }

  @Test func `a reader that goes away ends a long listing quietly`() throws {
    let store = try InspectedStore(commitCount: 1)
    let log = try Log.open(at: store.path)
    for _ in 0..<2000 { try log.append([Array(repeating: 65, count: 100)], durability: .buffered) }
    try log.close()
    for command in ["events", "list"] {
      let run = try ToolRun.shell(#""$0" log \#(command) \#(store.path) | head -1 >/dev/null; echo "${PIPESTATUS[0]}""#)
      #expect(run.text == "0\n", "\(command)")
      #expect(run.errors.isEmpty)
    }
  }

  @Test func `damage is told by the exit code also where nobody reads to the end`() throws {
    let store = try InspectedStore(empty: ())
    let made = try ToolRun.shell(#"seq 200000 | "$0" log append \#(store.path) --batch 100 --durability buffered"#)
    #expect(made.ending == .exited(0))
    try FilePatch.flip(bit: 3, ofByte: 4096 + 200, in: try #require(try store.segments.first))
    for command in ["events", "list"] {
      let run = try ToolRun.shell(#""$0" log \#(command) \#(store.path) | head -1 >/dev/null; echo "${PIPESTATUS[0]}""#)
      #expect(run.text == "3\n", "\(command): \(run.errorText)")
    }
  }

  @Test(arguments: [
    ["log", "events"], ["log", "events", "a", "b"], ["log", "events", "a", "--values", "json"],
    ["log", "events", "a", "--from", "x"], ["log", "verify", "a", "--threads", "0"], ["log", "salvage", "a"],
    ["log", "diff", "a"], ["log", "hexdump", "a", "--lsn", "99999999999999999999"],
    ["log", "list", "a", "--from", "-1"],
  ])
  func `mistakes on the command line are one line and exit code 2`(words: [String]) throws {
    let run = try ToolRun(words)
    #expect(run.ending == .exited(2))
    #expect(run.output.isEmpty)
    #expect(run.errorText.split(separator: "\n").count == 1)
  }

  @Test func `beside a writer everything is readable, bytes on their way are no finding, salvage waits`() throws {
    let store = try InspectedStore(commitCount: 3)
    let log = try Log.open(at: store.path)
    try log.append([Array("synced".utf8)])
    try log.append([Array("buffered".utf8)], durability: .buffered)
    // Half a frame, as a writer in the middle of a write leaves it for a moment.
    let file = try #require(try store.segments.last)
    let end = try #require(
      (try parsedJSON(store.log("tail", "%", "--json").out) as? [String: Any])?["verifiedEndOffset"] as? Int)
    try store.edit(file) { $0[end..<end + 10] = ArraySlice([0xF5, 0x0D, 0x0A, 0x1A, 1, 0, 0, 0, 200, 0]) }
    #expect(store.log("verify", "%").code == .success)
    #expect(store.log("verify", "%").out.contains("a writer has the store open"))
    #expect(store.log("tail", "%").out.contains("in flight"))
    #expect(store.log("tail", "%").code == .success)
    #expect(store.log("events", "%").lines.last == "5\tbuffered")
    #expect(store.log("info", "%").out.contains("held by process \(getpid())"))
    #expect(store.log("salvage", "%", "--to", store.scratch.file("new")).code == .inUse)
    try store.edit(file) { $0[end..<end + 10] = ArraySlice([UInt8](repeating: 0, count: 10)) }
    try log.close()
  }
}
