enum SampleCommand {
  static let command = Command(
    name: "sample", arguments: "BENCH SUBJECT --rows N --dir DIR",
    summary: "One timed run in this process, for 'run', which wants its peak memory apart; and for profilers.",
    isHidden: true
  ) { words in
    let arguments = try Arguments(words, options: ["rows", "dir"], flags: ["prepare", "prepare-only"])
    guard arguments.words.count == 2, let directory = arguments["dir"] else {
      throw BenchmarkError.usage("sample takes a bench, a subject, --rows and --dir")
    }
    guard let benchmark = Catalogue.benchmark(named: arguments.words[0]),
      let subject = benchmark.subjects.first(where: { $0.name.text == arguments.words[1] })
    else { throw BenchmarkError.usage("there is no such bench or subject") }
    let rows = try arguments.count("rows", in: 1...100_000_000, default: benchmark.fullRowCount)
    let site = Site(rowCount: rows, root: directory)
    if arguments.has("prepare") {
      try makeDirectories(directory)
      try subject.prepare(site)
    }
    if arguments.has("prepare-only") {
      try subject.prepare(site)
      return 0
    }
    Output.line(try subject.sample(site).line)
    return 0
  }
}
