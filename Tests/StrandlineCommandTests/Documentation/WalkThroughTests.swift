import Glibc
import StrandlineTestSupport
import Testing

@testable import strandline

/// What README and Docs tell a reader to type, typed; what they say comes out, compared.
///
/// A line that begins with `$ ` is a command for bash, what follows up to the next is its output on both streams. `…` in an
/// expected line stands for any text; alone on a line, for any number of lines. The port 8080 is another one here, which is free.
struct WalkThroughTests {
  @Test(arguments: ["README.md", "Docs/Sync.md"])
  func `the commands in the document print what the document says`(path: String) throws {
    let scratch = try ScratchDirectory()
    let port = "\(try LoopbackSocket.freePort())"
    let steps = try MarkdownFile(path).fences.filter { $0.language == "console" }.flatMap(Self.steps).map { step in
      Step(
        command: step.command.replacing("8080", with: port),
        expected: step.expected.map { $0.replacing("8080", with: port) })
    }
    #expect(!steps.isEmpty)
    // One shell for all, so that a variable set in one step is there in the next. What still runs at its end is ended.
    let end = "-- end of step --"
    var script = "cd \(scratch.path)\nPATH=${0%/*}:$PATH\nexec 2>&1\ntrap 'kill $(jobs -p) 2> /dev/null' EXIT\n"
    for step in steps { script += "\(step.command)\necho '\(end)'\n" }
    var outputs: [[String]] = [[]]
    for line in try ToolRun.shell(script).text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line == end { outputs.append([]) } else { outputs[outputs.count - 1].append(String(line)) }
    }
    #expect(outputs.count == steps.count + 1)
    for (step, output) in zip(steps, outputs) {
      #expect(
        Self.matches(output[...], step.expected[...]),
        "$ \(step.command)\n\(output.joined(separator: "\n"))\nexpected\n\(step.expected.joined(separator: "\n"))")
    }
  }

  private struct Step {
    var command: String
    var expected: [String] = []
  }

  private static func steps(of fence: MarkdownFile.Fence) -> [Step] {
    var steps: [Step] = []
    for line in fence.lines {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2))))
      } else if !steps.isEmpty {
        steps[steps.count - 1].expected.append(line)
      }
    }
    return steps
  }

  private static func matches(_ output: ArraySlice<String>, _ expected: ArraySlice<String>) -> Bool {
    guard let first = expected.first else { return output.isEmpty }
    if first == "…" {
      return (output.startIndex...output.endIndex).contains { matches(output[$0...], expected.dropFirst()) }
    }
    guard let line = output.first, matches(line, pattern: first) else { return false }
    return matches(output.dropFirst(), expected.dropFirst())
  }

  /// Whether `line` is `pattern` with some text for each `…`.
  private static func matches(_ line: String, pattern: String) -> Bool {
    let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return line == pattern }
    guard line.hasPrefix(parts[0]), let last = parts.last else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
