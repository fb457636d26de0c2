import StrandlineSync

/// Two devices of one user, that write without a network and meet over a server.
enum OfflineChapter: TourChapter {
  static let title = "Work offline, and meet"

  /// Entries that the first device writes.
  private static let entryCountMax = 1000
  /// Writers at once: they share syncs.
  private static let writerCount = 32

  static func run(_ tour: Tour) throws {
    let network = TourNetwork(directory: tour.directory)
    let entries = tour.uploads.moments.reversed().lazy.flatMap(\.entries).prefix(entryCountMax)
    let rows = Dictionary(entries.map { (Pair($0.package, $0.version), columns(of: $0)) }) { first, _ in first }
    let written = Array(rows.values)
    let (failure, writing) = try Stopwatch.time {
      try AsyncWork.wait { try await writeOffline(written, network) }
    }
    let ending = failure.map { "\($0.code)" } ?? "nothing"
    try TourProof.require(failure?.code == .connectionFailed, "a sync without a network ended with \(ending)")
    tour.figures.sync.rowCount = written.count
    let count = HumanUnits.count(written.count)
    try tour.narrator.say(
      "Now the same for devices: each has a store of its own with all its rows, and a queue of what it wrote. Ann's phone has no "
        + "network and writes the newest \(count) entries, which takes \(time(writing)); each shows at once. Its sync fails:"
    )
    if let failure { try tour.narrator.quote(failure.description) }

    let figures = try AsyncWork.wait { try await meet(network) }
    tour.figures.sync.pushNanoseconds = figures.push
    tour.figures.sync.pullNanoseconds = figures.pull
    try TourProof.require(figures.isEqual, "phone and laptop have different rows")
    try TourProof.require(figures.rowCount == written.count, "\(figures.rowCount) of \(count) rows arrived")
    try TourProof.require(figures.strangerCount == 0, "Bob sees \(figures.strangerCount) of Ann's rows")
    try tour.narrator.say(
      "We close its store, start a server on this machine, and open the store again. The queue is as it was, and goes out in "
        + "\(time(figures.push)); Ann's laptop, new and empty, has all of it \(time(figures.pull)) later.")
    try tour.proved(
      "All \(count) rows are on the laptop, equal cell by cell to the phone's, each once. Bob, who asks the same server for the "
        + "same table with a token of his own, gets none.")
  }

  private static func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }

  private struct Pair: Hashable {
    var package: String
    var version: String

    init(_ package: String, _ version: String) {
      self.package = package
      self.version = version
    }
  }

  private static func columns(of entry: ChangelogEntry) -> [String: Value] {
    [
      "package": .string(entry.package), "version": .string(entry.version), "by": .string(entry.maintainerName),
      "date": .string(UTCTime.text(seconds: entry.date / 1000)),
      "changes": .string(entry.lines.joined(separator: "\n")),
    ]
  }

  /// What a sync without a network ends with.
  private static func writeOffline(_ rows: [[String: Value]], _ network: TourNetwork) async throws -> SyncError? {
    let phone = try await network.open("phone", of: "ann", at: nil)
    try await withThrowingTaskGroup { group in
      for writer in 0..<writerCount {
        group.addTask {
          for place in stride(from: writer, to: rows.count, by: writerCount) {
            try await phone.from(TourNetwork.table).insert(rows[place])
          }
        }
      }
      try await group.waitForAll()
    }
    var failure: SyncError?
    do { try await phone.sync() } catch let error as SyncError { failure = error }
    try TourProof.require(try await network.rows(of: phone).count == rows.count, "rows are missing on the phone")
    try TourProof.require(try await phone.outboxDepth() == rows.count, "writes are missing in the queue")
    try await phone.close()
    return failure
  }

  private struct Meeting: Sendable {
    var push = 0
    var pull = 0
    var rowCount = 0
    var isEqual = false
    /// Rows that another user sees.
    var strangerCount = 0
  }

  private static func meet(_ network: TourNetwork) async throws -> Meeting {
    let server = try await network.serve()
    let phone = try await network.open("phone", of: "ann", at: server.url)
    var meeting = Meeting()
    var started = ContinuousClock.now
    try await phone.sync()
    meeting.push = (ContinuousClock.now - started).wholeNanoseconds
    try TourProof.require(try await phone.outboxDepth() == 0, "writes wait still though the server was there")
    let laptop = try await network.open("laptop", of: "ann", at: server.url)
    started = ContinuousClock.now
    try await laptop.sync()
    meeting.pull = (ContinuousClock.now - started).wholeNanoseconds
    let stranger = try await network.open("stranger", of: "bob", at: server.url)
    try await stranger.sync()
    meeting.strangerCount = try await network.rows(of: stranger).count
    let rows = try await network.rows(of: laptop)
    meeting.rowCount = rows.count
    meeting.isEqual = try await network.rows(of: phone) == rows
    for client in [phone, laptop, stranger] { try await client.close() }
    try await server.stop()
    return meeting
  }
}
