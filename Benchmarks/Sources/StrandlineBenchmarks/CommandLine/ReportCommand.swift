enum ReportCommand {
  static let command = Command(
    name: "report", arguments: "[DIR] [--from FILE]",
    summary: "Writes result lines as a Markdown page and a bar chart a family.",
    details: """
      DIR         where results.md and the charts go, default Docs/Benchmarks
      --from FILE result lines as 'run --json' prints them, default DIR/results.jsonl; of two lines about the same
                  figure the later counts
      """
  ) { words in
    let arguments = try Arguments(words, options: ["from"], flags: [])
    guard arguments.words.count <= 1 else { throw BenchmarkError.usage("report takes one directory") }
    let directory = arguments.words.first ?? "Docs/Benchmarks"
    let source = arguments["from"] ?? "\(directory)/results.jsonl"
    let results = try Results(jsonLines: readText(source), source: source)
    try makeDirectories(directory)
    try writeText(ResultTable.markdown(results), to: "\(directory)/results.md")
    for family in results.families {
      try writeText(BarChart.svg(results, family: family), to: "\(directory)/\(family).svg")
    }
    Output.note("\(directory)/results.md: \(results.figures.count) figures of \(results.benches.count) benches")
    return 0
  }
}
