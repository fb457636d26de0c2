enum ListCommand {
  static let command = Command(
    name: "list", arguments: "[FAMILY…]", summary: "Names the benches, their subjects and their sizes.",
    details: "A star marks the benches that 'run' without names does."
  ) { words in
    let arguments = try Arguments(words, options: [], flags: [])
    let benches = try RunCommand.benchmarks(arguments.words.isEmpty ? ["all"] : arguments.words)
    let width = benches.map(\.name.count).max() ?? 0
    for benchmark in benches {
      let mark = Catalogue.canonicalNames.contains(benchmark.name) ? "*" : " "
      let space = String(repeating: " ", count: width - benchmark.name.count)
      let subjects = benchmark.subjects.map(\.name.text).joined(separator: ", ")
      Output.line("\(mark) \(benchmark.name)\(space)  \(benchmark.summary)")
      let indent = String(repeating: " ", count: width + 4)
      Output.line("\(indent)\(benchmark.fullRowCount) rows (small: \(benchmark.smallRowCount)); \(subjects)")
    }
    return 0
  }
}
