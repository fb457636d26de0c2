internal import Glibc

enum SoakCommand {
  static let command = Command(
    name: "soak", arguments: "--kind K [--seed S] [--minutes M] [--dir DIR]",
    summary: "Tests that get better the longer they run.",
    details: SoakKinds.all.map { "\($0.name)\t\($0.summary)" }.joined(separator: "\n")
      + "\n\nThe seed is printed first; with the same seed a kind draws the same cases. Default: 10 minutes, a random seed."
  ) { words in
    let arguments = try Arguments(words, options: ["kind", "seed", "minutes", "dir"], flags: [])
    guard arguments.words.isEmpty else { throw BenchmarkError.usage("soak takes options only") }
    guard let name = arguments["kind"] else { throw BenchmarkError.usage("--kind is missing") }
    guard let kind = SoakKinds.all.first(where: { $0.name == name }) else {
      let known = SoakKinds.all.map(\.name).joined(separator: ", ")
      throw BenchmarkError.usage("there is no kind '\(name)'; there are \(known)")
    }
    let minutes = try arguments.count("minutes", in: 1...100_000, default: 10)
    var seed = UInt64.random(in: 0..<1 << 53)
    if let text = arguments["seed"] {
      guard let given = UInt64(text) else { throw BenchmarkError.usage("--seed must be a number, not '\(text)'") }
      seed = given
    }
    let directory = "\(arguments["dir"] ?? RunCommand.defaultDirectory)/soak-\(name)-\(getpid())"
    try makeDirectories(directory)
    Output.line("soak \(name): seed \(seed), \(minutes) minutes, in \(directory)")
    let deadline = monotonicNanoseconds() + UInt64(minutes) * 60_000_000_000
    try kind.run(SoakOrder(seed: seed, minutes: minutes, directory: directory, deadline: deadline))
    // What a finding left behind stays for people to look at.
    try removeTree(directory)
    return 0
  }
}
