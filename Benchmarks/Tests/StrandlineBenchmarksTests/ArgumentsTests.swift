import Testing

@testable import StrandlineBenchmarks

struct ArgumentsTests {
  @Test(arguments: [
    [], ["nothing"], ["run", "no.such.bench"], ["run", "--runs"], ["run", "--runs", "0"], ["run", "--runs", "x"],
    ["run", "--size", "huge"], ["run", "--size", "small", "--rows", "5"], ["run", "--nonsense"],
    ["run", "recovery", "--subjects", "nobody"], ["run", "--runs", "1", "--runs", "2"],
    ["run", "--peers", "lmdb,nobody"], ["soak"],
    ["soak", "--kind", "none"], ["soak", "--kind", "kill", "--seed", "x"], ["report", "a", "b"], ["sample"],
  ])
  func `wrong arguments end with 2`(words: [String]) {
    #expect(runBench(words) == 2)
  }

  @Test(arguments: [["--help"], ["run", "--help"], ["soak", "--kind", "x", "--help"], ["list"], ["list", "append"]])
  func `help and lists end with 0`(words: [String]) {
    #expect(runBench(words) == 0)
  }

  @Test func `a missing file ends with 4`() {
    #expect(runBench(["report", "--from", "/nonexistent/results.jsonl"]) == 4)
  }
}
