import StrandlineSync

/// A server that has lost what its clients know of it.
enum NewHistoryChapter: TourChapter {
  static let title = "Lose the server's history"

  static func run(_ tour: Tour) throws {
    let network = TourNetwork(directory: tour.directory)
    let found = try AsyncWork.wait { try await reset(network) }
    tour.figures.sync.resetNanoseconds = found.reset
    tour.figures.sync.pullAgainNanoseconds = found.pull
    try TourProof.require(found.block == .resetRequired, "the phone was not told to begin anew")
    try TourProof.require(
      found.rowCountBlocked == tour.figures.sync.rowCount + 1, "the phone that is stopped does not read and write")
    try tour.narrator.say(
      "The server is put back from a backup, and says so: its history is a new one. The phone has written one more row meanwhile. Its "
        + "next sync is answered RESET_REQUIRED, whereupon it makes no more requests and waits for a word; all its rows can still be "
        + "read, and written.")
    try TourProof.require(
      found.report.droppedMutations == [TourNetwork.table: 1], "\(found.report.droppedMutations) were lost")
    try TourProof.require(found.rowCountReset == 0, "\(found.rowCountReset) rows are there after reset()")
    try TourProof.require(found.isNewDevice, "the phone has kept its identity")
    try TourProof.require(found.isEqual && found.rowCount == tour.figures.sync.rowCount, "not all rows came back")
    try tour.narrator.say(
      "The word is `reset()`: one record erases rows, queue and journals, \(time(found.reset)), whatever is there, and the phone is a new "
        + "device. It says what is lost for good: 1 queued write. The next sync brings all rows back in \(time(found.pull))."
    )
    try tour.proved(
      "After reset() nothing was left, and after the sync all \(HumanUnits.count(found.rowCount)) rows of the server are there again, cell "
        + "by cell; a laptop that was reset too has the same.")
  }

  private static func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }

  private struct Found: Sendable {
    var block: SoftBlockReason?
    var rowCountBlocked = 0
    var report: LocalResetReport
    var rowCountReset = 0
    var rowCount = 0
    var isNewDevice = false
    var isEqual = false
    var reset = 0
    var pull = 0
  }

  private static func reset(_ network: TourNetwork) async throws -> Found {
    let server = try await network.serve(beginsNewHistory: true)
    let phone = try await network.open("phone", of: "ann", at: server.url)
    let laptop = try await network.open("laptop", of: "ann", at: server.url)
    let identity = try await phone.inspect().clientID
    try await phone.from(TourNetwork.table).insert(["package": "zzz", "version": "2"])
    try await phone.sync()
    let block = try await phone.checkpoint().softBlockReason
    let rowCountBlocked = try await network.rows(of: phone).count
    var started = ContinuousClock.now
    let report = try await phone.reset(keepCopy: false)
    var found = Found(block: block, rowCountBlocked: rowCountBlocked, report: report)
    found.reset = (ContinuousClock.now - started).wholeNanoseconds
    found.rowCountReset = try await network.rows(of: phone).count
    started = ContinuousClock.now
    try await phone.sync()
    found.pull = (ContinuousClock.now - started).wholeNanoseconds
    found.isNewDevice = try await phone.inspect().clientID != identity
    try await laptop.reset()
    try await laptop.sync()
    let rows = try await network.rows(of: phone)
    found.rowCount = rows.count
    found.isEqual = try await network.rows(of: laptop) == rows
    for client in [phone, laptop] { try await client.close() }
    try await server.stop()
    return found
  }
}
