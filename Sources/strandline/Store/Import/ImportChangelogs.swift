import Strandline
import StrandlineLog

/// `strandline import debian-changelogs`: this machine's package documentation as tables.
struct ImportChangelogs: Command {
  static let specification = CommandSpecification(
    name: "debian-changelogs",
    summary: "Import the changelogs of this machine's packages as packages, entries and closed bugs.",
    discussion: [
      "Makes the store if there is none. All uploads of one moment are one commit, oldest first, with their date as metadata.",
      "What is there already is passed over, so an import can be repeated. Synced at the end, unless --durability synced.",
    ],
    positionals: [StoreAccess.positional],
    options: [
      .init("--from", "DIR", summary: "Read DIR/*/changelog* (default \(ChangelogLibrary.standardDirectory))."),
      .init("--durability", "synced|buffered", summary: "Of each commit (default buffered)."),
      HistoryOption.option(default: "all"), .json,
    ])

  private let path: String
  private let directory: String?
  private let durability: Durability
  private let history: StoreOptions.History
  private let printsJSON: Bool

  init(_ arguments: Arguments) throws(UsageError) {
    path = arguments.positional(0)
    directory = arguments.value("--from")
    durability =
      try arguments.choice("--durability", as: LineSettings.DurabilityName.self) == .synced ? .synced : .buffered
    history = try HistoryOption.value(arguments, default: "all")
    printsJSON = arguments.has("--json")
  }

  func run(_ console: Console) throws -> ExitCode {
    let started = ContinuousClock.now
    let reading = ProgressBar("reading changelogs", total: nil, console: console)
    let collected =
      directory.map { ChangelogUploads.collect(changelogs: $0, packages: "", progress: { reading.update($0, of: $1) }) }
      ?? ChangelogUploads.collect(progress: { reading.update($0, of: $1) })
    reading.finish()
    guard let uploads = collected else {
      throw Failure(
        .ioFailure, "\(directory ?? ChangelogLibrary.standardDirectory) has no changelogs. Nothing was written.")
    }
    if uploads.source == .packageList {
      console.note("no changelogs on this machine; the list of installed packages has to do")
    }
    let counts = try StoreAccess.write(path, makes: true, history: history, console) { store in
      Interruption.beginGraceful()
      try store.adopt(ChangelogTables.schema)
      let bar = ProgressBar("importing", total: uploads.moments.count, console: console)
      defer { bar.finish() }
      let counts = try ChangelogTables.write(uploads.moments, to: store, durability: durability) { done in
        bar.update(done)
        try Interruption.check()
      }
      try store.sync()
      return counts
    }
    let time = ContinuousClock.now - started
    if printsJSON {
      var json = JSONWriter(.document)
      json.object { json in
        json.schemaField()
        json.field("source", uploads.source.rawValue)
        json.field("files", uploads.fileCount)
        json.field("skipped", uploads.skippedCount)
        json.field("commits", counts.commits)
        json.field("entries", counts.entries)
        json.field("bugs", counts.bugs)
        json.field("known", counts.known)
        let (seconds, attoseconds) = time.components
        json.field("nanoseconds", seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
      }
      json.endLine()
      try console.out.write(&json)
    } else {
      let known = counts.known > 0 ? ", \(HumanUnits.count(counts.known)) known before" : ""
      try console.print(
        "\(HumanUnits.count(counts.entries)) entries and \(HumanUnits.count(counts.bugs)) closed bugs in "
          + "\(HumanUnits.count(counts.commits)) commits\(known), \(HumanUnits.duration(time))")
    }
    return .success
  }
}
