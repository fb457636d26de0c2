import Foundation
import Testing

@testable import strandline

@Suite("strandline scenario run") struct ScenarioRunTests {
  static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/scenarios").path

  /// A case that fails on the client at step 2, and on the server passes.
  private static let failing = #"""
    {"case": "made/to-fail", "context": {"user_id": "3f9c6a1e-52d7-4c0b-8a44-7b1d90e2c6f5",
      "client_id": "b8e07d42-1a9f-4e63-9c2b-6d5f8a3071ce", "schema_version": 1,
      "server": {"tables": {"notes": {"bucket_column": "owner"}}}},
     "steps": [
      {"n": 1, "kind": "local", "op": "insert", "table": "notes", "pk": "a", "mutation_id": "m", "columns": {"body": "\u001b[31m"}},
      {"n": 2, "kind": "assert", "checks": [{"check": "local-row", "table": "notes", "pk": "a", "row": {"body": "y"}}]}]}
    """#

  @Test("prints a line a case and the numbers last")
  func passing() throws {
    let run = try ToolRun(["scenario", "run", "\(Self.fixtures)/keys/texts.json", "\(Self.fixtures)/soft-delete"])
    #expect(run.ending == .exited(0))
    #expect(run.lines.count == 19)
    #expect(run.lines.last == "18 passed, 0 failed")
    #expect(run.lines.dropLast().allSatisfy { $0.hasPrefix("passed   ") })
    #expect(run.errorText.isEmpty)
  }

  @Test("a failed case names side, step, expected and got, and the exit code is 1")
  func failing() throws {
    let scratch = try ScratchDirectory()
    let path = "\(scratch.path)/case.json"
    try Data(Self.failing.utf8).write(to: URL(fileURLWithPath: path))
    let run = try ToolRun(["scenario", "run", path])
    #expect(run.ending == .exited(1))
    #expect(
      run.text == #"""
        failed   made/to-fail
          client, step 2, assert 1: local-row notes a  (\#(path))
            at body
              expected  "y"
              got       "\\u001b[31m"
        0 passed, 1 failed

        """#)
    let server = try ToolRun(["scenario", "run", path, "--side", "server"])
    #expect(server.ending == .exited(0))
    #expect(server.text == "passed   made/to-fail\n1 passed, 0 failed\n")
  }

  @Test("cases for another side are skipped and counted")
  func skipping() throws {
    let run = try ToolRun(["scenario", "run", "--side=client", "\(Self.fixtures)/cursors"])
    #expect(run.ending == .exited(0))
    #expect(run.lines.last?.hasPrefix("2 passed, 0 failed, ") == true)
    #expect(run.lines.last?.hasSuffix(" skipped") == true)
  }

  @Test("--json is one document, --jsonl one object a line")
  func machines() throws {
    let scratch = try ScratchDirectory()
    try Data(Self.failing.utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/case.json"))
    try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/other.json"))
    let document = try ToolRun(["scenario", "run", "--json", scratch.path])
    #expect(document.ending == .exited(1))
    #expect(document.errorText.contains("other.json: passed over, for it is no scenario file"))
    let json = try #require(try JSONSerialization.jsonObject(with: Data(document.output)) as? [String: Any])
    #expect(json["failed"] as? Int == 1 && json["passed"] as? Int == 0 && json["skipped"] as? Int == 0)
    let cases = try #require(json["cases"] as? [[String: Any]])
    let sides = try #require(cases.first?["sides"] as? [[String: Any]])
    #expect(sides.map { $0["passed"] as? Bool } == [false, true])
    #expect(sides.first?["step"] as? Int == 2)
    let differences = try #require(sides.first?["differences"] as? [[String: Any]])
    #expect(differences.first?["expected"] as? String == #""y""#)
    let lines = try ToolRun(["scenario", "run", "--jsonl", scratch.path])
    #expect(lines.lines.count == 2)
    for line in lines.lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    #expect(lines.lines.last == #"{"schema":1,"passed":0,"failed":1,"skipped":0}"#)
  }

  @Test("what is no scenario file is a mistake when it is named, and what is not there cannot be read")
  func mistakes() throws {
    let scratch = try ScratchDirectory()
    try Data("{}".utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/other.json"))
    #expect(try ToolRun(["scenario", "run", "\(scratch.path)/other.json"]).ending == .exited(2))
    #expect(try ToolRun(["scenario", "run", scratch.path]).text == "0 passed, 0 failed\n")
    #expect(try ToolRun(["scenario", "run", "\(scratch.path)/none"]).ending == .exited(4))
    #expect(try ToolRun(["scenario", "run"]).ending == .exited(2))
    #expect(try ToolRun(["scenario", "run", scratch.path, "--side", "moon"]).ending == .exited(2))
    #expect(try ToolRun(["scenario", "run", scratch.path, "--json", "--jsonl"]).ending == .exited(2))
    #expect(try ToolRun(["scenario", "run", "--help"]).text.hasPrefix("Run scenario files"))
  }
}
