import StrandlineSync
import Testing

@testable import strandline

/// `strandline sync put` and `delete`, without any server.
@Suite("sync put") struct SyncPutTests {
  private let scratch: ScratchDirectory
  private let store: String

  private static let tables = #"""
    {"todos":{"owner":"owner"},"items":{"key":["list","n"]},"notes":{"softDelete":"gone"},"colors":{"pullOnly":true}}
    """#

  init() throws {
    scratch = try ScratchDirectory()
    store = scratch.file("phone")
    scratch.write(Array(#"{"tables":\#(Self.tables)}"#.utf8), to: "phone/\(SyncSettings.fileName)")
  }

  private func put(_ row: String, _ table: String, _ more: String..., input: String = "") throws -> ToolRun {
    try ToolRun(
      ["sync", "put", store, row, "--table", table] + more, input: Array(input.utf8),
      environment: ["STRANDLINE_TOKEN=\(ServedTool.token)"])
  }

  private func delete(_ table: String, _ keys: [String], _ more: String...) throws -> ToolRun {
    try ToolRun(["sync", "delete", store, "--table", table] + keys.flatMap { ["--key", $0] } + more)
  }

  private func rows(_ table: String) throws -> [Substring] {
    try ToolRun(["query", store, "--table", table, "--jsonl"]).lines
  }

  private func depth() throws -> Value? { try ToolRun(["sync", "status", store, "--json"]).object()["queued"] }

  @Test func `a row is inserted, or where it is there its columns are set`() throws {
    #expect(try put(#"{"id":"a","n":1}"#, "todos").text == "queued insert todos a\n")
    #expect(try put(#"{"id":"a","m":2}"#, "todos").text == "queued update todos a\n")
    #expect(try rows("todos") == [#"{"id":"a","m":2,"n":1,"owner":"ann"}"#])
    #expect(
      try ToolRun(["get", store, "--table", "todos", "--key", "a", "--jsonl"]).text
        == #"{"id":"a","m":2,"n":1,"owner":"ann"}"# + "\n")
    #expect(
      try ToolRun(["history", store, "--table", "todos", "--key", "a", "--limit", "1"]).text.hasSuffix(
        "\t" + #"{"id":"a","m":2,"n":1,"owner":"ann"}"# + "\n"))
    #expect(try put(#"{"id":"a"}"#, "todos", "--insert").ending == .exited(1))
    #expect(try put(#"{"id":"b"}"#, "todos", "--update").ending == .exited(1))
    #expect(try put(#"{"n":1}"#, "todos", "--update").ending == .exited(2))
    #expect(try depth() == 2)
  }

  @Test func `a row without a key gets one, and keys of several columns make one text`() throws {
    let made = try put(#"{"n":1}"#, "todos", "--jsonl").object()
    guard case .string(let id)? = made["key"] else {
      Issue.record("\(made)")
      return
    }
    #expect(try rows("todos") == [#"{"id":"\#(id)","n":1,"owner":"ann"}"#])
    #expect(try put(#"{"list":"x","n":7}"#, "items").text == "queued insert items [\"x\", \"7\"]\n")
    #expect(try put(#"{"list":"x","n":7,"v":1}"#, "items").text == "queued update items [\"x\", \"7\"]\n")
    #expect(try put(#"{"list":"x"}"#, "items").ending == .exited(2))
    #expect(try delete("items", ["x"], "--yes").ending == .exited(2))
    #expect(try delete("items", ["x", "7"], "--yes").text == "queued delete items [\"x\", \"7\"]\n")
    #expect(try rows("items").isEmpty)
  }

  @Test func `lines are writes of their own, or one batch`() throws {
    let lines = "{\"id\":\"a\"}\n\n{\"id\":\"b\"}\n"
    #expect(try put("-", "todos", input: lines).text == "queued insert todos a\nqueued insert todos b\n")
    #expect(try put("-", "todos", "--atomic", input: "{\"id\":\"c\"}\n{\"id\":\"a\",\"n\":1}").ending == .exited(0))
    let status = try ToolRun(["sync", "status", store, "--json"]).object()
    guard case .array(let queue)? = status["queue"] else { return }
    let batches = queue.map { entry -> Value in
      if case .object(let cells) = entry { cells["batch"] ?? .null } else { .null }
    }
    #expect(batches.count == 4 && batches[0].isNull && batches[1].isNull)
    #expect(!batches[2].isNull && batches[2] == batches[3])
    // A line that is none spoils all, before anything is written.
    let bad = try put("-", "todos", input: "{\"id\":\"d\"}\nnonsense\n")
    #expect(bad.ending == .exited(2) && bad.errorText.contains("line 2"))
    // One that the table does not take ends it there, and says what stands.
    let half = try put("-", "items", input: "{\"list\":\"x\",\"n\":1}\n{\"list\":\"x\"}\n")
    #expect(half.ending == .exited(2) && half.errorText.contains("line 2: LOCAL_CONSTRAINT"))
    #expect(half.errorText.contains("Written before it: 1 row.") && half.lines.count == 1)
    let none = try put("-", "items", "--atomic", input: "{\"list\":\"y\",\"n\":1}\n{\"list\":\"y\"}\n")
    #expect(none.ending == .exited(2) && none.errorText.contains("Nothing was written.") && none.text.isEmpty)
    #expect(try rows("items").count == 1)
  }

  @Test func `transforms change what is there`() throws {
    _ = try put(#"{"id":"a","n":1,"tags":["x"]}"#, "todos")
    let run = try put(
      #"{"id":"a"}"#, "todos", "--transform", #"n={"op":"increment","by":2}"#, "--transform",
      #"tags={"op":"arrayUnion","values":["y"]}"#, "--if", "n=1")
    #expect(run.text == "queued update todos a\n", "\(run.errorText)")
    #expect(try rows("todos") == [#"{"id":"a","n":3,"owner":"ann","tags":["x","y"]}"#])
    #expect(try put(#"{"id":"a"}"#, "todos", "--transform", "n=7").ending == .exited(2))
    #expect(try put(#"{"id":"b"}"#, "todos", "--transform", #"n={"op":"increment","by":2}"#).ending == .exited(1))
  }

  @Test func `a table that marks its rows hides them, one that is only read refuses`() throws {
    _ = try put(#"{"id":7,"t":"x"}"#, "notes")
    #expect(try delete("notes", ["7"]).ending == .exited(2))
    #expect(try delete("notes", ["7"], "--yes").text == "queued delete notes 7\n")
    #expect(try delete("notes", ["7"], "--yes").ending == .exited(1))
    #expect(try rows("notes").count == 1)
    let refused = try put(#"{"id":"red"}"#, "colors")
    #expect(refused.ending == .exited(2) && refused.errorText.contains("LOCAL_UNSUPPORTED"))
    #expect(try put(#"{"id":"x"}"#, "other").errorText.contains("UNKNOWN_TABLE"))
    #expect(try put("[1]", "todos").ending == .exited(2))
  }

  @Test func `a store that is not there is no client's to look at`() throws {
    let other = scratch.file("other")
    let config = scratch.write(Array(#"{"tables":{"t":{}}}"#.utf8), to: "settings.json")
    for command in ["status", "rejections", "overwrites", "dead-letters"] {
      let run = try ToolRun(["sync", command, other, "--config", config])
      #expect(run.ending == .exited(4), "\(command): \(run.errorText)")
    }
    let unset = try ToolRun(["sync", "status", other])
    #expect(unset.ending == .exited(2) && unset.errorText.contains("strandline sync init"))
  }
}
