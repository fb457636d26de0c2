import Glibc

/// `strandline tour`: what the product promises, shown on real data.
struct TourCommand: Command {
  static let specification = CommandSpecification(
    name: "tour",
    summary: "Show on real data what is promised: write, kill, recover, salvage; tables, queries, views, reset; sync.",
    discussion: [
      "Takes the changelogs in this machine's package documentation, writes them as durable commits in a process",
      "that gets killed on the way, and compares what is left with what was acknowledged, byte by byte. Then keeps",
      "them as tables: queries them, watches them change, looks at them across a reset. Then gives them to two devices",
      "that work offline, meet over a server on this machine, disagree, and begin anew. Works in a temporary directory and",
      "takes less than a minute. Exit code 1 if anything that is promised does not hold.",
    ],
    options: [
      .init("--keep", "DIR", summary: "Work in DIR, which must not exist, and leave everything there."),
      .init("--json", summary: "Print the closing table as one JSON document; the tour itself goes to standard error."),
    ])

  static let chapters: [any TourChapter.Type] = [
    CollectChapter.self, KillChapter.self, TornTailChapter.self, RecoveryChapter.self, DamageChapter.self,
    ResetChapter.self, ImportChapter.self, QueryChapter.self, CompactChapter.self, WatchChapter.self,
    ViewChapter.self, OfflineChapter.self, ConflictChapter.self, NewHistoryChapter.self,
  ]

  private let keptDirectory: String?
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    keptDirectory = arguments.value("--keep")
    if keptDirectory == "" { throw .invalidValue(option: "--keep", value: "", expected: "the name of a directory") }
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    Interruption.beginGraceful()
    let directory = try makeDirectory()
    let narrator = Narrator(console: console, speaksOnError: printsJSON)
    let tour = Tour(directory: directory, console: console, narrator: narrator)
    do {
      try runChapters(of: tour)
    } catch {
      try? cleanUp(directory)
      throw error
    }
    try cleanUp(directory)
    return .success
  }

  private func runChapters(of tour: Tour) throws {
    try tour.narrator.line(
      "Strandline keeps every change as a commit in one log, and tables folded from it. This tour tries to break them.")
    try tour.narrator.line(
      "It works in \(TerminalText.escaped(tour.directory)), which \(keptDirectory == nil ? "it removes at the end" : "stays")."
    )
    for chapter in Self.chapters {
      try Interruption.check()
      try tour.narrator.step(chapter.title)
      try chapter.run(tour)
    }
    try tour.narrator.step("In numbers")
    try tour.narrator.table(tour.figures.rows)
    try tour.narrator.line("")
    try tour.narrator.line("All \(tour.figures.proofCount) checks (✓) held.")
    if let keptDirectory {
      let path = TerminalText.escaped(keptDirectory)
      try tour.narrator.line(
        "Look around: `strandline log info \(path)/store`, `strandline log verify \(path)/damaged`, "
          + "`strandline stat \(path)/tables`, `strandline query \(path)/phone --table entries --limit 3`.")
    }
    guard printsJSON else { return }
    var json = JSONWriter(.document)
    tour.figures.write(to: &json, source: tour.history.source)
    try tour.console.out.write(&json)
  }

  private func makeDirectory() throws(Failure) -> String {
    guard let keptDirectory else { return try DirectoryTree.makeTemporary(prefix: "strandline-tour-") }
    guard mkdir(keptDirectory, 0o700) == 0 else {
      let number = errno
      throw Failure(
        number == EEXIST ? .usage : .ioFailure, "cannot make \(keptDirectory): \(String(cString: strerror(number)))")
    }
    return keptDirectory
  }

  private func cleanUp(_ directory: String) throws(Failure) {
    if keptDirectory == nil { try DirectoryTree.remove(directory) }
  }
}
