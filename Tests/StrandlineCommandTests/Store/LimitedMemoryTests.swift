import Glibc
import StrandlineTestSupport
import Testing

@testable import strandline

/// Tables that are larger than the memory the tool may have: the system refuses it more than `RLIMIT_DATA` says, and a process that is
/// refused memory dies.
struct LimitedMemoryTests {
  /// Bytes of JSON Lines that are loaded; `STRANDLINE_SOAK_SCALE=16` makes them 1 GiB.
  private static let byteCount = (64 << 20) * SoakScale.factor
  /// What each command may take. The memory layer is 4 MiB in the small size, so that the rows are many times what it holds.
  private static let limit = SoakScale.factor > 1 ? 256 << 20 : 96 << 20
  private static let memory = SoakScale.factor > 1 ? "32MiB" : "4MiB"

  @Test func `a table many times as large as memory is loaded, queried, compacted and opened again`() throws {
    let scratch = try ScratchDirectory()
    let (file, rowCount) = try Self.writeRows(to: scratch.file("rows.jsonl"))
    let store = scratch.file("store")
    var peaks: [String] = []
    func run(_ script: String, _ name: String) throws -> ToolRun {
      let run = try ToolRun.shell("ulimit -d \(Self.limit >> 10); \(script)")
      #expect(run.ending == .exited(0), "\(name): \(run.errorText)")
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
      peaks.append("\(name) \(HumanUnits.bytes(usage.ru_maxrss << 10))")
      return run
    }
    func count(_ condition: String = "") throws -> Int? {
      let run = try run(#"exec "$0" query '\#(store)' --table t --count \#(condition)"#, "count \(condition)")
      return run.lines.first.flatMap { Int($0) }
    }
    _ = try run(
      #"exec "$0" load '\#(store)' --table t --key id:int --index city --memory \#(Self.memory) '\#(file)'"#, "load")
    #expect(try count() == rowCount)
    #expect(try count("--where city=Ulm") == (rowCount + 2) / 3)
    let everything = try run(#""$0" query '\#(store)' --table t --jsonl | cksum"#, "whole table")
    let sorted = try run(
      #"exec "$0" query '\#(store)' --table t --order code --limit 3 --select id --csv"#, "sorted")
    _ = try run(#"exec "$0" compact '\#(store)' --history none"#, "compact")
    #expect(try count("--where city=Bern") == (rowCount + 1) / 3)
    #expect(try run(#""$0" query '\#(store)' --table t --jsonl | cksum"#, "again").text == everything.text)
    #expect(
      try run(#"exec "$0" query '\#(store)' --table t --order code --limit 3 --select id --csv"#, "again").text
        == sorted.text)
    _ = try run(#"exec "$0" put '\#(store)' '{"id":-1,"city":"Ulm"}' --table t"#, "put")
    #expect(try run(#"exec "$0" get '\#(store)' --table t --key \#(rowCount - 1)"#, "get").lines.count > 0)
    #expect(try count() == rowCount + 1)
    if SoakScale.factor > 1 {
      print("\(HumanUnits.bytes(Self.byteCount)) under \(HumanUnits.bytes(Self.limit)), resident at most by then:")
      print(peaks.joined(separator: "; "))
    }
  }

  @Test func `a log whose rows are more than memory holds is proved, facts and all`() throws {
    let scratch = try ScratchDirectory()
    let (file, _) = try Self.writeRows(to: scratch.file("rows.jsonl"))
    let store = scratch.file("store")
    // All of it stays in the log's tail.
    let load = try ToolRun.shell(#"exec "$0" load '\#(store)' --table t --key id:int --memory 4GiB '\#(file)'"#)
    #expect(load.ending == .exited(0), "\(load.errorText)")
    let verify = try ToolRun.shell(
      #"ulimit -d \#(Self.limit >> 10); exec "$0" log verify '\#(store)'"#)
    #expect(verify.ending == .exited(0), "\(verify.errorText)")
  }

  private static func writeRows(to path: String) throws -> (path: String, rowCount: Int) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var random = SeededGenerator(seed: 11)
    let cities = ["Ulm", "Bern", "Graz"]
    var written = 0
    var rowCount = 0
    while written < byteCount {
      var lines: [UInt8] = []
      while lines.count < 1 << 20 {
        let code = String(random.next(), radix: 36)
        lines += Array(
          #"{"id":\#(rowCount),"city":"\#(cities[rowCount % 3])","code":"\#(code)","done":\#(rowCount % 2 == 0),"#.utf8)
        lines += Array(
          #""text":"a tide that comes in with number \#(rowCount) and leaves \#(code) on the beach","n":\#(rowCount % 97)}"#
            .utf8)
        lines.append(0x0A)
        rowCount += 1
      }
      try #require(write(descriptor, lines, lines.count) == lines.count)
      written += lines.count
    }
    return (path, rowCount)
  }
}
