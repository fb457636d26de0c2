import Testing

@testable import StrandlineBenchmarks

/// The small size of every bench: all subjects do the work and agree on the result.
@Suite(.serialized) struct BenchmarkTests {
  @Test(arguments: Catalogue.all.map(\.name))
  func `every subject of a bench gets the same result`(name: String) throws {
    let benchmark = try #require(Catalogue.benchmark(named: name))
    let root = ".build/strandline-bench/tests"
    try makeDirectories(root)
    defer { try? removeTree(root) }
    var runner = Runner(
      size: .small, runs: 1, root: root, environment: MachineEnvironment.current(directory: root), note: { _ in })
    runner.isolates = false
    let figures = try runner.run(benchmark)
    for subject in benchmark.subjects {
      #expect(figures.contains { $0.subject == subject.name.text && $0.metric == benchmark.primary })
    }
    let hashes = Set(figures.compactMap(\.resultHash))
    #expect(hashes.count <= 1)
  }

  @Test func `names are unique and canonical benches exist`() {
    #expect(Set(Catalogue.all.map(\.name)).count == Catalogue.all.count)
    #expect(Catalogue.canonicalNames.allSatisfy { Catalogue.benchmark(named: $0) != nil })
    #expect(Catalogue.benchmarks(matching: "recovery").count == RecoveryBenches.all.count)
    #expect(Catalogue.benchmarks(matching: "recover").isEmpty)
  }
}
