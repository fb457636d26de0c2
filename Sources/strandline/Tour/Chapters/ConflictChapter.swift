import StrandlineSync

/// What two devices wrote to one row, and a write that the server refuses.
enum ConflictChapter: TourChapter {
  static let title = "Disagree, and be refused"

  static func run(_ tour: Tour) throws {
    let network = TourNetwork(directory: tour.directory)
    let found = try AsyncWork.wait { try await disagree(network) }
    let name = "\(found.key[0]) \(found.key[1])"
    try TourProof.require(found.isEqual, "phone and laptop have different rows")
    try TourProof.require(
      found.row["state"] == "read" && found.row["note"] == "keep" && found.row["rating"] == 5,
      "the row is \(ValueText.json(found.row))")
    try TourProof.require(found.lost == [3], "\(found.lost.count) overwrites are in the journal, 1 was made")
    try tour.narrator.say(
      "Both devices write to one row without a network, the entry \(name). The phone sets `state`, the laptop `note`, both set "
        + "`rating`: 3 on the phone, 5 on the laptop. Then both sync, the phone first.")
    try tour.proved(
      "Both have the same row again, with what each wrote: `state` and `note` stand, and of `rating` the later to arrive, 5. The 3 is "
        + "in the phone's journal of overwrites, so that it can be told.")
    try TourProof.require(
      found.rejections.map(\.kind) == [.rejected] && found.rejections.map(\.reason) == ["RLS_DENIED"],
      "\(found.rejections.count) rejections are in the journal, 1 was made")
    try TourProof.require(!found.strayIsThere, "the refused row is still there")
    try TourProof.require(found.depth == 0, "the refused write is still queued")
    try tour.narrator.say(
      "The laptop writes a row in Bob's name, and sees it at once. The server does not take it from Ann: RLS_DENIED.")
    try tour.proved(
      "The row is gone from the laptop, the queue is empty, and the journal of rejections says which write it was and why."
    )
  }

  private struct Found: Sendable {
    var key: [String] = []
    var row: Row = [:]
    var isEqual = false
    var lost: [Value] = []
    var rejections: [Rejection] = []
    var strayIsThere = true
    var depth = 0
  }

  private static func disagree(_ network: TourNetwork) async throws -> Found {
    let server = try await network.serve()
    let phone = try await network.open("phone", of: "ann", at: server.url)
    let laptop = try await network.open("laptop", of: "ann", at: server.url)
    var found = Found()
    guard let first = try await phone.from(TourNetwork.table).select().limit(1).rows().first,
      case .string(let package)? = first["package"], case .string(let version)? = first["version"]
    else { throw Failure(.finding, "NOT PROVED: the phone has no rows") }
    found.key = [package, version]
    func set(_ columns: [String: Value], on client: SyncClient) async throws {
      try await client.from(TourNetwork.table).update(columns).eq("package", first["package"] ?? .null)
        .eq("version", first["version"] ?? .null).single().execute()
    }
    try await set(["state": "read", "rating": 3], on: phone)
    try await set(["note": "keep", "rating": 5], on: laptop)
    for client in [phone, laptop, phone] { try await client.sync() }
    let rows = try await network.rows(of: phone)
    found.isEqual = try await network.rows(of: laptop) == rows
    found.row = rows.first { $0["package"] == first["package"] && $0["version"] == first["version"] } ?? [:]
    found.lost = try await phone.overwrites().map(\.loserValue)

    let stray: [String: Value] = ["package": "zzz", "version": "1", "owner": "bob"]
    try await laptop.from(TourNetwork.table).insert(stray)
    try await laptop.sync()
    found.rejections = try await laptop.rejections()
    found.depth = try await laptop.outboxDepth()
    found.strayIsThere = try await laptop.from(TourNetwork.table).select().eq("owner", "bob").count() > 0
    for client in [phone, laptop] { try await client.close() }
    try await server.stop()
    return found
  }
}
