import Foundation
import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import strandline

/// What `strandline log` says, where another word would send its reader the wrong way.
struct LogMessageTests {
  @Test func `META of another size or kind is not called missing, and a linked segment has no damaged header`() throws {
    for words in [["info", "%"], ["verify", "%"], ["events", "%"]] {
      let short = try InspectedStore()
      try short.edit("\(short.path)/META") { $0.removeLast(100) }
      let size = short.log(words)
      #expect(
        (size.out + size.err).contains("expected a file of 8192 bytes, found 8092") || words[0] == "info", "\(size)")
      #expect(!(size.out + size.err).contains("missing"), "\(size)")

      let linked = try InspectedStore()
      unlink("\(linked.path)/META")
      symlink("/etc/passwd", "\(linked.path)/META")
      let kind = linked.log(words)
      #expect((kind.out + kind.err).contains("no regular file"), "\(kind)")
      #expect(!(kind.out + kind.err).contains("missing"), "\(kind)")

      let segment = try InspectedStore()
      let file = try #require(try segment.segments.last)
      rename(file, segment.scratch.file("elsewhere"))
      symlink(segment.scratch.file("elsewhere"), file)
      let link = segment.log(words)
      #expect((link.out + link.err).contains("no regular file"), "\(link)")
      #expect(!(link.out + link.err).contains("eader is damaged"), "\(link)")
    }
  }

  @Test func `a foreign file is foreign, and a file of a store leads to its directory`() throws {
    let store = try InspectedStore()
    let log = try Log.open(at: store.path)
    defer { try? log.close() }
    for words in InspectedStore.lookers where words[0] != "diff" {
      let run = store.log(words.map { $0 == "%" ? "/etc/passwd" : $0 })
      #expect(run.code == .corruption && run.out.isEmpty, "\(words): \(run)")
      #expect(
        run.err.contains("/etc/passwd: not a file of a Strandline store. Nothing was changed."), "\(words): \(run)")
      for name in ["META", "LOCK"] {
        let part = store.log(words.map { $0 == "%" ? "\(store.path)/\(name)" : $0 })
        #expect(part.code == .corruption, "\(words): \(part)")
        #expect(part.err.contains("says nothing by itself; name the directory of the store"), "\(words): \(part)")
      }
    }
    // A segment without a readable header is damaged, whatever its name.
    let bytes = [UInt8](try #require(FileManager.default.contents(atPath: try store.segments[0])))
    let other = store.scratch.write(
      bytes.enumerated().map { $0.offset % 2048 == 60 ? ~$0.element : $0.element }, to: "x")
    let damaged = store.log("verify", other)
    #expect(damaged.code == .corruption && damaged.out.contains("DAMAGED: "), "\(damaged)")
    #expect(!damaged.out.contains("nothing of it keeps"), "\(damaged)")
  }

  @Test func `the advice of a salvage fits: of a store in use, of a missing parent, and without temporary names`()
    throws
  {
    let store = try InspectedStore()
    let orphan = store.scratch.file("no/such/new")
    let missing = store.log("salvage", "%", "--to", orphan)
    #expect(missing.code == .ioFailure)
    #expect(
      missing.err.contains(
        "\(store.scratch.file("no/such")): no such directory, and \(orphan) cannot be made without it"))
    #expect(!missing.err.contains(".tmp-"), "\(missing.err)")
    let log = try Log.open(at: store.path)
    let busy = store.log("salvage", "%", "--to", store.scratch.file("new"))
    #expect(busy.code == .inUse)
    #expect(busy.err.contains("in use by process \(getpid())") && busy.err.contains("stop it first"), "\(busy.err)")
    #expect(!busy.err.contains("read-only"), "\(busy.err)")
    try log.close()
    let help = store.log("salvage", "--help").out
    for code in 0...5 { #expect(help.contains("\(code): "), "\(help)") }
  }

  @Test func `an option that needs another names it, and positions may be hexadecimal`() throws {
    let store = try InspectedStore(commitCount: 1)
    let file = try #require(try store.segments.last)
    #expect(store.log("events", file, "--salt", "12").err.contains("--salt needs --lsn-base LSN beside it"))
    #expect(store.log("events", file, "--lsn-base", "12").err.contains("--lsn-base needs --salt HEX beside it"))
    let decimal = store.log("hexdump", "%", "--lsn", "4096")
    let hexadecimal = store.log("hexdump", "%", "--lsn", "0x1000")
    #expect(decimal.code == .success && decimal.out == hexadecimal.out)
    #expect(store.log("list", "%", "--from", "0x1000").out == store.log("list", "%").out)
    for wrong in ["0x", "1000h", "0xzz", "-0x1", "0x1ffffffffffffffff", ""] {
      #expect(store.log("hexdump", "%", "--lsn", wrong).code == .usage, "\(wrong)")
    }
  }

  @Test func `a path is shown as it is looked up`() throws {
    let store = try InspectedStore()
    let name = try #require(store.path.split(separator: "/").last)
    let odd = store.scratch.path + "//./\(name)/."
    #expect(store.log("tail", odd).lines.first == store.log("tail", "%").lines.first)
    let root = store.log("verify", "//bin/")
    #expect(root.out.contains("/bin: no store here") && !root.out.contains("//"), "\(root.out)")
  }

  @Test func `a log without tables is none, for the commands on tables, and no damage`() throws {
    let store = try InspectedStore()
    let tables = TableStore(at: store.scratch)
    for words in [
      ["stat", "%"], ["query", "%", "--table", "t"], ["changes", "%"], ["compact", "%"],
      ["put", "%", #"{"id":1}"#, "--table", "t", "--key", "id:int"],
    ] {
      let run = tables.run(words)
      #expect(run.code == .usage, "\(words): \(run)")
      #expect(run.err.contains("a log without tables") && !run.err.contains("damaged"), "\(words): \(run)")
    }
    #expect(store.log("verify", "%").code == .success)
    let salvage = store.log("salvage", "%", "--to", store.scratch.file("new"))
    #expect(salvage.code == .success, "\(salvage)")
  }

  @Test func `messages name the option, the range, the kind of file and the command that fits`() throws {
    let store = try InspectedStore()
    let tables = TableStore(at: store.scratch)
    func expect(_ run: InspectedStore.Run, _ code: ExitCode, _ text: String, line: Int = #line) {
      #expect(run.code == code && (run.err + run.out).contains(text), "line \(line): \(run)")
    }
    expect(store.log("salvage", "%", "--to", "%/in"), .usage, "--to \(store.path)/in lies inside the store")
    expect(store.log("events", "%", "--from", "-1"), .usage, "'-1' is not the number of a commit, 0 to ")
    expect(store.log("info", "%", "--salt", "1", "--lsn-base", "0"), .usage, "are for a piece of a segment")
    expect(store.log("reset", "%"), .usage, "did you mean 'strandline reset'?")
    symlink("/no/such/place", store.scratch.file("link"))
    expect(store.log("verify", store.scratch.file("link")), .corruption, "a symbolic link that leads nowhere")
    expect(tables.run("stat", store.scratch.file("link")), .corruption, "a symbolic link that leads nowhere")
    for file in ["META", String(try #require(try store.segments.first).dropFirst(store.path.utf8.count + 1))] {
      let run = try ToolRun(["log", "append", "\(store.path)/\(file)"], input: [0x61])
      #expect(run.ending == .exited(3) && run.errorText.contains("name the directory of the store"), "\(run.errorText)")
    }
    let directory = try ToolRun.shell(#""$0" log append \#(store.scratch.file("new")) < /tmp; echo "exit $?""#)
    #expect(directory.text == "exit 4\n" && directory.errorText.contains("standard input is a directory"))
    #expect(access(store.scratch.file("new"), F_OK) != 0)
    let empty = try InspectedStore(empty: ())
    let tail = try parsedJSON(empty.log("tail", "%", "--json").out) as? [String: Any]
    #expect(tail?["verdict"] as? String == "noTail")
    truncate("\(store.path)/META", 0)
    let verify = store.log("verify", "%")
    #expect(verify.code == .corruption && !verify.out.contains("slot 0"), "\(verify.out)")
  }

  @Test func `a log without tables is copied and emptied as a store with tables is`() throws {
    let store = try InspectedStore()
    let tables = TableStore(at: store.scratch)
    let before = store.log("events", "%").out
    let copy = store.scratch.file("copy")
    #expect(tables.run("backup", "%", copy).code == .success)
    #expect(store.log("events", copy).out == before)
    let reset = try tables.object("reset", "%", "--yes", "--keep-copy", "--json")
    #expect(reset["epoch"] as? Int == 1 && reset["voidedVersions"] is NSNull, "\(reset)")
    #expect(store.log("events", "%").out.isEmpty && store.log("verify", "%").code == .success)
    #expect(store.log("events", try #require(reset["keptCopy"] as? String)).out == before)
    let again = tables.run("reset", "%", "--yes")
    #expect(again.code == .success && !again.out.contains("versions"), "\(again)")
    #expect(try ToolRun(["log", "append", store.path], input: [0x61]).ending == .exited(0))
  }
}
