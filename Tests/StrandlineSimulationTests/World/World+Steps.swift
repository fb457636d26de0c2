import StrandlineProtocol

extension World {
  /// One thing that happens.
  func step(favouring favourite: Device? = nil) async throws {
    let device = if let favourite, chance(50) { favourite } else { pick(devices) }
    if !server.isUp, chance(60) { try await server.start() }
    if device.replica.block != nil, !device.isBusy, chance(30) { return try await device.unblock() }
    switch draw(0...99) {
    case 0..<40: try await device.write()
    case 40..<62: try await device.sync()
    case 62..<65: try await device.pullOnce()
    case 65..<69: try await device.pushOnce()
    case 69..<72: try await device.setTeam(pick(Schema.teams))
    case 72..<75: try await device.signIn(chance(50) ? nil : device.user)
    case 75: try await device.signIn(pick(Schema.users))
    case 76: try await device.reset()
    case 77..<80: try await device.die()
    case 80, 81: server.die()
    case 82..<86: moveClock(of: device)
    case 86, 87: device.isConnected.toggle()
    case 88: device.refusalCount = draw(1...9)
    case 89..<92: try await ownerWrites()
    case 92, 93: try await reap()
    case 94: try await server.restart(schemaVersionMin: chance(30) ? 2 : 1)
    case 95, 96: try await deliverLateRequest()
    case 97: try await device.reopen()
    default: try await device.compact()
    }
  }

  private func moveClock(of device: Device) {
    let jump = Int64(pick([-7_200_000, -60_000, -1, 1, 700, 60_000, 7_200_000, 86_400_000])) * Int64(draw(1...3))
    if chance(60) {
      note("the clock of \(device.name) moves by \(jump) ms")
      device.moveClock(by: jump)
    } else {
      note("the server's clock moves by \(jump) ms")
      server.moveClock(by: jump)
    }
  }

  private func ownerWrites() async throws {
    let place = pick(Places.all)
    var columns: [String: Value]? = ["title": .string(pick(["a", "b", "c"])), "n": .int(Int64(draw(0...9)))]
    if chance(25) { columns = nil }
    // A row that is made has a bucket, as all rows have.
    if columns != nil, server.model.rows[place] == nil, let column = Schema.bucketColumn(place.table) {
      columns?[column] = .string(column == "owner" ? pick(Schema.users) : pick(Schema.teams))
    }
    note("the owner \(columns.map { "writes \(place): \(text($0))" } ?? "deletes \(place)")")
    try await server.write(place, columns)
  }

  /// Two things that the protocol has no word for are left out. A device that has pulled nothing since its reset misses that rows of its own
  /// are gone for good; and a transfer from the start, which never expires, keeps rows that were deleted and reaped between its pages.
  private func reap() async throws {
    if !server.isUp
      || devices.contains(where: { $0.replica.cursor == "0" || $0.replica.position?.hasPrefix("0") == true })
    {
      return
    }
    note("all tombstones are reaped")
    count("reaped")
    try await server.reap()
  }
}
