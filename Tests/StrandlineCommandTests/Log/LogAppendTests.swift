import Glibc
import StrandlineLog
import StrandlineTestSupport
import Testing

@testable import strandline

struct LogAppendTests {
  private let scratch: ScratchDirectory
  private var store: String { scratch.file("store") }

  init() throws { scratch = try ScratchDirectory() }

  private func append(_ input: [UInt8], _ options: String...) throws -> ToolRun {
    try ToolRun(["log", "append", store] + options, input: input)
  }

  @Test func `each line becomes a record with its bytes as they are`() throws {
    let run = try append([0x61, 0x0A, 0x0A, 0xFF, 0x00, 0x0D, 0x0A, 0x6C], "--acks")
    #expect(run.ending == .exited(0))
    #expect(run.errors.isEmpty)
    #expect(try Acknowledgement.parse(run.output) == (1...4).map { Acknowledgement(sequence: $0, recordCount: 1) })
    let (commits, _) = try contents(ofStore: store)
    #expect(commits.map(\.records) == [[[0x61]], [[]], [[0xFF, 0x00, 0x0D]], [[0x6C]]])
  }

  @Test(arguments: ["synced", "buffered"])
  func `lines are gathered and a commit that is not full is written at the end`(durability: String) throws {
    let lines = (0..<25).map { "line \($0)\n" }.joined()
    let run = try append(Array(lines.utf8), "--batch", "10", "--acks", "--durability", durability)
    #expect(try Acknowledgement.parse(run.output).map(\.recordCount) == [10, 10, 5])
    let (commits, report) = try contents(ofStore: store)
    #expect(commits.flatMap(\.records) == (0..<25).map { Array("line \($0)".utf8) })
    #expect(report.wasClosedCleanly)
  }

  @Test func `damage that made no difference is told`() throws {
    #expect(try append(Array("a\n".utf8)).errors.isEmpty)
    #expect(
      try ToolRun.shell("printf x | dd of=$(ls \(store)/seg*) bs=1 seek=5 conv=notrunc status=none").ending
        == .exited(0))
    #expect(
      try ToolRun.shell("printf x | dd of=\(store)/META bs=1 seek=100 conv=notrunc status=none").ending == .exited(0))
    let run = try append(Array("b\n".utf8), "--acks")
    #expect(run.ending == .exited(0))
    #expect(try Acknowledgement.parse(run.output) == [Acknowledgement(sequence: 2, recordCount: 1)])
    #expect(run.errorText.contains("META: slot 0 was damaged"), "\(run.errorText)")
    #expect(run.errorText.contains("one copy of the segment's header is damaged"), "\(run.errorText)")
    #expect(!(try append(Array("c\n".utf8)).errorText.contains("META")))
  }

  @Test func `no input is no commit and a second run goes on behind the first`() throws {
    #expect(try append([], "--acks").output.isEmpty)
    #expect(try append(Array("a".utf8), "--acks").text == #"{"first":1,"last":1,"records":1}"# + "\n")
    #expect(try append(Array("b".utf8), "--acks").text == #"{"first":2,"last":2,"records":1}"# + "\n")
    #expect(try append(Array("c".utf8)).output.isEmpty)
  }

  @Test func `a directory with other files in it becomes a store, and they stay as they are`() throws {
    let other = scratch.write(Array("mine".utf8), to: "store/notes.txt")
    scratch.write(Array("mine too".utf8), to: "store/sub/seg.log")
    #expect(try append(Array("a\n".utf8)).ending == .exited(0))
    #expect(try contents(ofStore: store).commits.map(\.records) == [[[0x61]]])
    #expect(try ToolRun(["log", "verify", store]).ending == .exited(0))
    #expect(try DirectoryTree.names(in: "\(store)/sub") == ["seg.log"])
    #expect(try ToolRun.shell("cat \(other)").text == "mine")
  }

  @Test(arguments: [0, 1])
  func `a line of 16 MiB is a record and a longer one is refused behind everything before it`(excess: Int) throws {
    let line = [UInt8](repeating: 0x78, count: CommitDraft.recordByteCountMax + excess)
    let run = try append(Array("first\nsecond\n".utf8) + line + Array("\nlast".utf8), "--batch", "100", "--acks")
    let (commits, report) = try contents(ofStore: store)
    #expect(report.wasClosedCleanly)
    if excess == 0 {
      #expect(run.ending == .exited(0))
      #expect(commits.flatMap(\.records).map(\.count) == [5, 6, line.count, 4])
    } else {
      #expect(run.ending == .exited(2))
      #expect(run.errorText.hasPrefix("strandline log append: line 3 is longer than 16.0 MiB"))
      #expect(try Acknowledgement.parse(run.output).map(\.recordCount) == [2])
      #expect(commits.flatMap(\.records) == [Array("first".utf8), Array("second".utf8)])
    }
  }

  @Test(arguments: [
    (["--batch", "0"], "--batch '0' is not a whole number, 1 to 1000000"),
    (["--batch", "many"], "--batch 'many' is not"), (["--linger", "-1"], "--linger '-1' is not"),
    (["--durability", "hoped"], "--durability 'hoped' is not one of synced, buffered"),
    (["extra"], "'extra' is one argument too many"), (["--ack"], "unknown option '--ack'; did you mean '--acks'?"),
  ])
  func `wrong arguments change nothing`(options: [String], message: String) throws {
    let run = try ToolRun(["log", "append", store] + options, input: Array("a\n".utf8))
    #expect(run.ending == .exited(2))
    #expect(run.errorText.contains(message))
    #expect(access(store, F_OK) != 0)
  }

  @Test func `a store in use is exit code 5, a file that is no directory 3, a place that is none 4`() throws {
    let log = try Log.open(at: store)
    let run = try append(Array("a".utf8))
    #expect(run.ending == .exited(5))
    #expect(run.errorText.contains("in use by process \(getpid())"))
    try log.close()
    scratch.write([1, 2, 3], to: "file")
    #expect(try ToolRun(["log", "append", scratch.file("file")]).ending == .exited(3))
    #expect(try ToolRun(["log", "append", scratch.file("no/such/parent")]).ending == .exited(4))
  }

  @Test func `a partial commit is written after the linger though input stays open`() throws {
    var child = try ChildProcess(
      ToolRun.path, ["log", "append", store, "--batch", "1000", "--linger", "20", "--acks"], input: .pipe, output: .pipe
    )
    #expect(write(child.input, "a\nb\nhalf", 8) == 8)
    var buffer = [UInt8](repeating: 0, count: 1000)
    let count = read(child.output, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(count, 0)], as: UTF8.self) == #"{"first":1,"last":1,"records":2}"# + "\n")
    child.closeInput()
    #expect(child.wait() == .exited(0))
    #expect(try contents(ofStore: store).commits.map { $0.records.count } == [2, 1])
  }

  @Test func `a buffered commit is acknowledged once the timed sync has covered it`() throws {
    var child = try ChildProcess(
      ToolRun.path, ["log", "append", store, "--durability", "buffered", "--acks"], input: .pipe, output: .pipe)
    #expect(write(child.input, "a\n", 2) == 2)
    var buffer = [UInt8](repeating: 0, count: 1000)
    #expect(read(child.output, &buffer, buffer.count) == 33)
    child.closeInput()
    #expect(child.wait() == .exited(0))
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal writes the commit in hand and closes the store`(signal: Int32) throws {
    let child = try ChildProcess(
      ToolRun.path, ["log", "append", store, "--batch", "3", "--linger", "60000", "--acks"], input: .pipe, output: .pipe
    )
    #expect(write(child.input, "a\nb\nc\nd\nunfinished", 18) == 18)
    var buffer = [UInt8](repeating: 0, count: 1000)
    // The first commit is acknowledged; the line behind it came in the same read and waits for company.
    #expect(read(child.output, &buffer, buffer.count) == 33)
    usleep(50_000)
    child.send(signal: signal)
    #expect(child.wait() == .exited(130))
    let (commits, report) = try contents(ofStore: store)
    #expect(commits.map { $0.records.count } == [3, 1])
    #expect(report.wasClosedCleanly)
  }

  @Test func `a quit signal ends it at once, with what was acknowledged in the store`() throws {
    let child = try ChildProcess(
      "/bin/bash", ["-c", #"ulimit -c 0; exec "$0" log append "$1" --acks"#, ToolRun.path, store], input: .pipe,
      output: .pipe)
    #expect(write(child.input, "a\n", 2) == 2)
    var buffer = [UInt8](repeating: 0, count: 1000)
    #expect(read(child.output, &buffer, buffer.count) == 33)
    child.send(signal: SIGQUIT)
    #expect(child.wait() == .killed(signal: SIGQUIT))
    #expect(try contents(ofStore: store).commits.map(\.records) == [[[0x61]]])
  }

  @Test func `a reader of acknowledgements that goes away ends it quietly with the store closed`() throws {
    let run = try ToolRun.shell(
      #"seq 100000 | "$0" log append \#(store) --acks | head -1; echo "${PIPESTATUS[1]}""#)
    #expect(run.text == #"{"first":1,"last":1,"records":1}"# + "\n0\n")
    #expect(run.errors.isEmpty)
    #expect(try contents(ofStore: store).report.wasClosedCleanly)
  }

  @Test func `a closed standard input is told, and makes no store`() throws {
    for command in ["log append \(store)", "load \(store) --table t --key id:int"] {
      let run = try ToolRun.shell(#""$0" \#(command) <&-; echo "exit $?""#)
      #expect(run.text == "exit 4\n", "\(run.errorText)")
      #expect(run.errorText.contains("standard input is closed") && run.errorText.contains("Nothing was made."))
      #expect(access(store, F_OK) != 0)
    }
  }

  @Test(arguments: [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
  func `no file of a store gets the number of a closed stream`(closed: String) throws {
    #expect(try append(Array("first\n".utf8)).ending == .exited(0))
    let run = try ToolRun.shell(
      #"printf 'a\nb\n' | "$0" log append \#(store) --acks \#(closed); "$0" log append \#(store)/none \#(closed)"#)
    #expect(run.output.isEmpty || closed == "2>&-")
    let verified = try ToolRun(["log", "verify", store])
    #expect(verified.ending == .exited(0), "\(verified.text)")
    let records = try contents(ofStore: store).commits.flatMap(\.records)
    // An acknowledgement that cannot be printed ends the command behind the first commit.
    let expected: [String] =
      closed == "2>&-" ? ["first", "a", "b"] : closed.hasPrefix("<") ? ["first"] : ["first", "a"]
    #expect(records.map { String(decoding: $0, as: UTF8.self) } == expected)
  }

  @Test func `a standard output that takes nothing ends it with 4, and what was written stays`() throws {
    let run = try ToolRun.shell(#"printf 'a\nb\n' | "$0" log append \#(store) --acks >/dev/full; echo "exit $?""#)
    #expect(run.text == "exit 4\n")
    #expect(run.errorText.contains("standard output: No space left on device"))
    #expect(try contents(ofStore: store).commits.map(\.records) == [[[0x61]]])
  }

  @Test func `a disk that is full is told with what was written, and the advice is one a shell can take`() throws {
    // A limit on the size of files stands in for the disk: EFBIG is treated as ENOSPC is, and its signal ends nothing.
    let run = try ToolRun.shell(
      #"ulimit -f 3000; yes "$(head -c 45000 /dev/urandom | base64 -w0)" | head -n 200 | "$0" log append \#(store)"#
    )
    #expect(run.ending == .exited(4))
    #expect(run.errorText.contains("Free some space and append the rest."), "\(run.errorText)")
    #expect(!run.errorText.contains("reset"), "\(run.errorText)")
    let records = try contents(ofStore: store).commits.count
    #expect(
      records > 0 && run.errorText.contains("Written before it: \(records) lines."), "\(records): \(run.errorText)")
  }

  @Test func `a large batch is fast`() throws {
    let lines = (0..<400_000).map { "line number \($0) with some text\n" }.joined()
    let started = ContinuousClock.now
    let run = try append(Array(lines.utf8), "--batch", "1000", "--acks")
    #expect(try Acknowledgement.parse(run.output).count == 400)
    // Two orders of magnitude of leave: a busy machine must not fail it, a quadratic loop must.
    #expect(ContinuousClock.now - started < .seconds(20))
  }
}
