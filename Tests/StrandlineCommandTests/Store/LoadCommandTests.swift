import Glibc
import Strandline
import StrandlineLog
import Testing

@testable import strandline

struct LoadCommandTests {
  private let store: TableStore

  init() throws { store = try TableStore() }

  private func load(_ input: String, _ options: String...) throws -> ToolRun {
    try ToolRun(["load", store.path, "--table", "t"] + options, input: Array(input.utf8))
  }

  @Test func `lines become rows and the table is made from its key`() throws {
    let run = try load(#"{"id":1,"a":"x"}"# + "\n\n" + #"{"id":2,"b":[1,{"c":null}]}"#, "--key", "id:int", "--acks")
    #expect(run.ending == .exited(0), "\(run.errorText)")
    #expect(run.errors.isEmpty)
    let acknowledgements = try Acknowledgement.parse(run.output)
    #expect(acknowledgements.map(\.recordCount) == [2])
    #expect(
      store.run("query", "%", "--table", "t", "--jsonl").lines == [
        #"{"a":"x","id":1}"#, #"{"b":[1,{"c":null}],"id":2}"#,
      ])
  }

  @Test func `rows are gathered into commits, and a row with the key of another replaces it`() throws {
    let lines = (0..<25).map { "{\"id\":\($0 % 20),\"n\":\($0)}\n" }.joined()
    let run = try load(lines, "--key", "id:int", "--batch", "10", "--acks", "--durability", "buffered")
    #expect(try Acknowledgement.parse(run.output).map(\.recordCount) == [10, 10, 5])
    #expect(store.run("query", "%", "--table", "t", "--count").out == "20\n")
    #expect(store.run("get", "%", "--table", "t", "--key", "3", "--jsonl").out == "{\"id\":3,\"n\":23}\n")
  }

  @Test(arguments: ["int", "string", "uuid", "bytes", "timestamp"])
  func `a key may be of any key type`(type: String) throws {
    let values = [
      "int": "7", "string": #""seven""#, "uuid": #""00000000-0000-4000-8000-000000000007""#, "bytes": #""Bw==""#,
      "timestamp": #""1999-12-31T23:59:59.000Z""#,
    ]
    let value = try #require(values[type])
    #expect(try load("{\"k\":\(value)}", "--key", "k:\(type)").ending == .exited(0))
    let text = value.filter { $0 != "\"" }
    #expect(store.run("get", "%", "--table", "t", "--key", text, "--jsonl").out == "{\"k\":\(value)}\n")
  }

  @Test(arguments: [
    ("not json", "line 2: no JSON at byte 0"), ("[1]", "line 2 is no JSON object"), (#"{"a":1}"#, "line 2: "),
    (#"{"id":"x"}"#, "line 2: "), (#"{"id":1,"id":2}"#, "line 2: "), ("{\"id\":2,\"a\":\"\u{0}\"}", "line 2: "),
  ])
  func `a line that is no row of the table is named, and what came before it stays`(line: String, message: String)
    throws
  {
    let run = try load("{\"id\":1}\n\(line)\n{\"id\":3}\n", "--key", "id:int", "--acks")
    #expect(run.ending == .exited(2))
    #expect(run.errorText.hasPrefix("strandline load: \(message)"), "\(run.errorText)")
    #expect(run.errorText.split(separator: "\n").count == 1)
    #expect(run.errorText.hasSuffix(". Written before it: 1 line.\n"), "\(run.errorText)")
    #expect(try Acknowledgement.parse(run.output).map(\.recordCount) == [1])
    #expect(store.run("query", "%", "--table", "t", "--jsonl").lines == ["{\"id\":1}"])
  }

  @Test func `a first line that is no row writes nothing and says so`() throws {
    let run = try load("{\"id\":\n{\"id\":3}\n", "--key", "id:int", "--acks")
    #expect(run.ending == .exited(2) && run.output.isEmpty)
    #expect(run.errorText.hasSuffix(". Nothing was written.\n"), "\(run.errorText)")
    #expect(store.run("query", "%", "--table", "t", "--count").out == "0\n")
  }

  @Test(arguments: [
    ["--table", "t", "--batch", "0"], ["--table", "t", "--key", "id"], ["--table", "t", "--key", "id:number"],
    ["--table", "t", "--column", "a:int"], ["--table", "t", "--key", "id:int", "--column", "a:text"], [],
    ["--table", ""], ["--table", "t", "--history", "never"], ["--table", "t", "--memory", "1KiB"],
    ["--table", "t", "--memory", "much"], ["--table", "t", "--metadata", "x"],
  ])
  func `wrong arguments are exit code 2 and change nothing`(options: [String]) throws {
    let run = try ToolRun(["load", store.path] + options, input: Array("{\"id\":1}\n".utf8))
    #expect(run.ending == .exited(2), "\(run.errorText)")
    #expect(run.errorText.split(separator: "\n").count == 1)
    #expect(access(store.path, F_OK) != 0)
  }

  @Test func `a table that is not there and has no key given is refused`() throws {
    let run = try load("{\"id\":1}\n")
    #expect(run.ending == .exited(2))
    #expect(run.errorText.contains("has no table t. Say --key COLUMN:TYPE to make it."))
  }

  @Test func `a file that is not there is exit code 4 and a store in use is 5`() throws {
    #expect(store.run("load", "%", "--table", "t", "--key", "id:int", store.scratch.file("none")).code == .ioFailure)
    let open = try Store.open(at: store.path)
    let run = try load("{\"id\":1}", "--key", "id:int")
    #expect(run.ending == .exited(5))
    #expect(run.errorText.contains("in use by process \(getpid())"))
    try open.close()
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal writes the rows in hand and closes the store`(signal: Int32) throws {
    let child = try ChildProcess(
      ToolRun.path,
      ["load", store.path, "--table", "t", "--key", "id:int", "--batch", "2", "--linger", "60000", "--acks"],
      input: .pipe,
      output: .pipe)
    let lines = "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4"
    #expect(write(child.input, lines, lines.utf8.count) == lines.utf8.count)
    var buffer = [UInt8](repeating: 0, count: 1000)
    #expect(read(child.output, &buffer, buffer.count) == 33)
    usleep(50_000)
    child.send(signal: signal)
    #expect(child.wait() == .exited(130))
    #expect(store.run("query", "%", "--table", "t", "--jsonl").lines == ["{\"id\":1}", "{\"id\":2}", "{\"id\":3}"])
  }

  @Test func `a reader of acknowledgements that goes away ends it quietly with the store closed`() throws {
    let run = try ToolRun.shell(
      #"seq 20000 | sed 's/.*/{"id":&}/' | "$0" load \#(store.path) --table t --key id:int --batch 1 --acks --durability buffered "#
        + #"| head -1 >/dev/null; echo "${PIPESTATUS[2]}""#)
    #expect(run.text == "0\n")
    #expect(run.errors.isEmpty)
    #expect(try contents(ofStore: store.path).report.wasClosedCleanly)
  }

  @Test func `metadata and cause of a load are kept with its commits`() throws {
    #expect(
      try load("{\"id\":1}", "--key", "id:int", "--metadata", "actor=me", "--metadata", "why=a=b").ending == .exited(0))
    let changes = try store.objects("changes", "%", "--jsonl")
    #expect(changes.last?["cause"] as? String == "imported")
    #expect(changes.last?["metadata"] as? [String: String] == ["actor": "me", "why": "a=b"])
  }
}
