import StrandlineSync

/// A server that has lost what its clients know of it, and two clients that are reset in different modes.
enum NewHistoryChapter: TourChapter {
  static let title = "Lose the server's history"

  static func run(_ tour: Tour) throws {
    let network = TourNetwork(directory: tour.directory)
    let found = try AsyncWork.wait { try await reset(network) }
    tour.figures.sync.resetNanoseconds = found.reset
    tour.figures.sync.pullAgainNanoseconds = found.pull
    try tour.narrator.say(
      "The server is put back from a backup, and says so: its history is a new one. Phone and laptop have each written one more row "
        + "meanwhile. With their next sync both are reset: the server's rows are pulled anew beside the old ones and put in force by "
        + "one record. The phone recovers what it had not synced, as is the default; the laptop was told to discard it:"
    )
    for (device, report) in [("phone", found.phone), ("laptop", found.laptop)] {
      try TourProof.require(report?.demand.kind == .history, "the \(device) was not reset")
      if let report {
        let lines = ResetText.lines(report)
        try tour.narrator.quote("\(device): \(lines[0])")
        try tour.narrator.quote(lines[1])
      }
    }
    try TourProof.require(
      found.phone?.didRecover == true && found.phone?.entries.kept == 1, "the phone's write was not kept")
    try TourProof.require(
      found.laptop?.effectiveMode == .discard && found.laptop?.entries.discarded == 1, "the laptop discarded nothing")
    try TourProof.require(
      found.isLaptopEqual && found.rowCount == tour.figures.sync.rowCount + 1,
      "\(found.rowCount) rows are on the devices, and not the server's with the phone's one")
    try TourProof.require(found.report.droppedMutations == [:], "\(found.report.droppedMutations) were lost")
    try TourProof.require(found.rowCountReset == 0, "\(found.rowCountReset) rows are there after reset()")
    try TourProof.require(found.isNewDevice, "the phone has kept its identity")
    try tour.narrator.say(
      "Another way out, and the whole of changing accounts, is `reset()`: one record erases rows, queue and journals, "
        + "\(time(found.reset)), whatever is there, and the phone is a new device. The next sync brings all rows back in "
        + "\(time(found.pull)).")
    try TourProof.require(found.isEqual, "not all rows came back")
    try tour.proved(
      "The phone's unsynced row has reached the server, the laptop's has not. After reset() nothing was left, and after the sync all "
        + "\(HumanUnits.count(found.rowCount)) rows are there again, cell by cell.")
  }

  private static func time(_ nanoseconds: Int) -> String { HumanUnits.duration(nanoseconds: Double(nanoseconds)) }

  private struct Found: Sendable {
    var phone: ClientResetReport?
    var laptop: ClientResetReport?
    var report: LocalResetReport
    var rowCountReset = 0
    var rowCount = 0
    var isLaptopEqual = false
    var isNewDevice = false
    var isEqual = false
    var reset = 0
    var pull = 0
  }

  private static func reset(_ network: TourNetwork) async throws -> Found {
    let server = try await network.serve(beginsNewHistory: true)
    let phone = try await network.open("phone", of: "ann", at: server.url)
    let laptop = try await network.open("laptop", of: "ann", at: server.url, clientReset: .discardUnsyncedChanges())
    try await phone.from(TourNetwork.table).insert(["package": "zzz", "version": "2"])
    try await laptop.from(TourNetwork.table).insert(["package": "zzz", "version": "3"])
    try await phone.sync()
    try await laptop.sync()
    let identity = try await phone.inspect().clientID
    let rows = try await network.rows(of: phone)
    let isLaptopEqual = try await network.rows(of: laptop) == rows
    let reports = (try await phone.resetHistory().last, try await laptop.resetHistory().last)
    var started = ContinuousClock.now
    let report = try await phone.reset(keepCopy: false)
    var found = Found(phone: reports.0, laptop: reports.1, report: report)
    found.reset = (ContinuousClock.now - started).wholeNanoseconds
    found.rowCount = rows.count
    found.isLaptopEqual = isLaptopEqual
    found.rowCountReset = try await network.rows(of: phone).count
    started = ContinuousClock.now
    try await phone.sync()
    found.pull = (ContinuousClock.now - started).wholeNanoseconds
    found.isNewDevice = try await phone.inspect().clientID != identity
    found.isEqual = try await network.rows(of: phone) == rows
    for client in [phone, laptop] { try await client.close() }
    try await server.stop()
    return found
  }
}
