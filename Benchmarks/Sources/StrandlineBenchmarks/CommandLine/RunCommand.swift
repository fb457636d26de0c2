internal import Glibc

enum RunCommand {
  static let command = Command(
    name: "run",
    arguments:
      "[NAME…] [--rows N] [--runs K] [--peers all|none|A,B] [--size small|full] [--subjects A,B] [--dir DIR] [--json]",
    summary: "Runs benches: all subjects in turns, one warm-up, then the runs that count.",
    details: """
      NAME        a bench, or a family ('recovery' is all 'recovery.…'), or 'table' (what we hold against the
                  peers), or 'all'; without names the canonical ones
      --rows N    another number of rows than the bench's own
      --runs K    runs that count, default 5
      --peers P   all (default), none, or some of \(SubjectName.peers.map(\.text).joined(separator: ", "))
      --size S    full (default), or small: seconds in all, for tests of the benches themselves
      --subjects  only these
      --dir DIR   where stores are written and removed again, default .build/strandline-bench; must be on the device
                  that is to be measured
      --json      one object a line for each figure
      """
  ) { words in
    let arguments = try Arguments(
      words, options: ["rows", "runs", "size", "subjects", "peers", "dir"], flags: ["json"])
    let benches = try benchmarks(arguments.words.isEmpty ? Catalogue.canonicalNames : arguments.words)
    let directory = arguments["dir"] ?? defaultDirectory
    let root = "\(directory)/run-\(getpid())"
    try makeDirectories(root)
    try removeLeftovers(in: directory)
    defer { try? removeTree(root) }
    let runner = Runner(
      size: try size(arguments), runs: try arguments.count("runs", in: 1...1000, default: 5), root: root,
      subjects: try subjects(arguments, benches), environment: .current(directory: root), note: Output.progress)
    if runner.environment.fileSystem == "tmpfs" {
      Output.note("strandline-bench: \(directory) is in memory (tmpfs): syncs cost nothing there")
    }
    for benchmark in benches {
      let figures = try runner.run(benchmark)
      Output.endProgress()
      if arguments.has("json") {
        for figure in figures { Output.line(figure.json.text) }
      } else {
        Output.line(FigureText.text(benchmark, figures))
      }
    }
    return 0
  }

  /// Removes the stores of runs that were interrupted: they may hold gigabytes.
  private static func removeLeftovers(in directory: String) throws {
    for name in try names(in: directory) where name.hasPrefix("run-") {
      guard let process = pid_t(name.dropFirst(4)), kill(process, 0) != 0, errno == ESRCH else { continue }
      try removeTree("\(directory)/\(name)")
    }
  }

  static let defaultDirectory = ".build/strandline-bench"

  static func benchmarks(_ names: [String]) throws -> [Benchmark] {
    var seen: Set<String> = []
    return try names.flatMap { name in
      let found = Catalogue.benchmarks(matching: name)
      guard !found.isEmpty else { throw BenchmarkError.usage("there is no bench '\(name)'") }
      return found.filter { seen.insert($0.name).inserted }
    }
  }

  private static func size(_ arguments: Arguments) throws -> Size {
    if let rows = try arguments.count("rows", in: 1...100_000_000) {
      guard arguments["size"] == nil else { throw BenchmarkError.usage("--rows and --size exclude each other") }
      return .rows(rows)
    }
    switch arguments["size"] ?? "full" {
    case "full": return .full
    case "small": return .small
    case let other: throw BenchmarkError.usage("--size must be small or full, not '\(other)'")
    }
  }

  private static func subjects(_ arguments: Arguments, _ benches: [Benchmark]) throws -> Set<String>? {
    let absent = try absentPeers(arguments)
    let known = Set(benches.flatMap(\.subjects).map(\.name.text))
    guard let text = arguments["subjects"] else { return absent.isEmpty ? nil : known.subtracting(absent) }
    let names = text.split(separator: ",").map(String.init)
    for name in names where !known.contains(name) {
      let others = known.sorted().joined(separator: ", ")
      throw BenchmarkError.usage("no bench here has a subject '\(name)'; there are \(others)")
    }
    return Set(names).subtracting(absent)
  }

  private static func absentPeers(_ arguments: Arguments) throws -> Set<String> {
    let all = Set(SubjectName.peers.map(\.text))
    switch arguments["peers"] ?? "all" {
    case "all": return []
    case "none": return all
    case let text:
      let names = Set(text.split(separator: ",").map(String.init))
      for name in names.subtracting(all).sorted() {
        let others = SubjectName.peers.map(\.text).joined(separator: ", ")
        throw BenchmarkError.usage("there is no peer '\(name)'; there are \(others)")
      }
      return all.subtracting(names)
    }
  }
}
