import StrandlineProtocol
import StrandlineSync

extension Device {
  /// The app writes something.
  func write() async throws {
    switch world.draw(1...100) {
    case 1...80: try await writeOne()
    case 81...92: try await writeBatch()
    default: try await writeByFilter()
    }
  }

  private func writeOne() async throws {
    var entry = drawnEntry(over: replica)
    entry.id = "m\(world.next())"
    var after = replica
    let refusal = refusal { () throws(DullReplica.Refusal) in try after.write(entry) }
    try await judge(
      "\(entry.operation.rawValue)s \(entry.place) by \(entry.id ?? ""): \(text(entry.columns)) \(text(entry.transforms.mapValues(\.json)))",
      leadingTo: after, refusal
    ) { client in
      try await client.apply(
        entry.operation, to: entry.place.table, pk: entry.place.pk, columns: entry.columns, mutationID: entry.id,
        transforms: entry.transforms.isEmpty ? nil : entry.transforms.mapValues(\.json),
        precondition: entry.precondition)
    }
  }

  /// Several writes that are one commit and one batch on the wire.
  private func writeBatch() async throws {
    let number = world.next()
    var after = replica
    var entries: [DullReplica.Entry] = []
    var refused: SyncErrorCode?
    // Seldom more than the server takes.
    for _ in 0..<(world.chance(5) ? Schema.mutationCountMax + 1 : world.draw(2...3)) {
      var entry = drawnEntry(over: after)
      entry.batch = number
      entries.append(entry)
      if let refusal = refusal({ () throws(DullReplica.Refusal) in try after.write(entry) }) {
        refused = refused ?? refusal
      }
    }
    let batch = entries
    try await judge("writes a batch \(batch.map { "\($0.operation.rawValue) \($0.place)" })", leadingTo: after, refused)
    {
      client in
      try await client.write { tx in
        for entry in batch {
          let (table, pk) = (entry.place.table, entry.place.pk)
          switch entry.operation {
          case .insert: try tx.insert(entry.columns, into: table, pk: pk)
          case .update:
            try tx.update(
              pk, in: table, set: entry.columns, transforms: entry.transforms, precondition: entry.precondition)
          case .delete: try tx.delete(pk, from: table, precondition: entry.precondition)
          }
        }
      }
    }
  }

  private func writeByFilter() async throws {
    let table = world.pick(Schema.tables)
    let title = Value.string(world.pick(["a", "b", "c"]))
    let operation: MutationOperation = world.chance(75) ? .update : .delete
    let columns: [String: Value] = operation == .update ? ["n": .int(Int64(world.draw(0...9)))] : [:]
    var after = replica
    for place in replica.rows.keys.sorted() where place.table == table && replica.rows[place]?["title"] == title {
      let entry = DullReplica.Entry(place: place, operation: operation, columns: columns)
      _ = refusal { () throws(DullReplica.Refusal) in try after.write(entry) }
    }
    try await judge("\(operation.rawValue)s in \(table) where title is \(title.json)", leadingTo: after, nil) {
      client in
      try await client.applyWhere(
        operation, in: table, filters: [.column("title", .equals, title)], columns: columns)
    }
  }

  private func judge(
    _ what: String, leadingTo after: DullReplica, _ refusal: SyncErrorCode?,
    _ body: (SyncClient) async throws -> Void
  ) async throws {
    switch try await perform(what, leadingTo: refusal == nil ? after : nil, body) {
    case .died: return
    case .done: try demand(refusal == nil, "\(name): a write is taken that breaks a rule")
    case .failed(let error): try demand(error.catalogueCode == refusal, "\(name): a write fails with \(error)")
    }
    try await compare("a write")
  }

  private func refusal(_ body: () throws(DullReplica.Refusal) -> Void) -> SyncErrorCode? {
    do throws(DullReplica.Refusal) { try body() } catch { return error.code }
    return nil
  }

  private func drawnEntry(over replica: DullReplica) -> DullReplica.Entry {
    var place = world.pick(Places.all)
    // More often what is the user's own, or nobody's to begin with.
    if Schema.isOwned(place.table), world.chance(60) { place.pk = world.pick(["k4", Places.firstKey(of: user)]) }
    let exists = replica.rows[place] != nil
    let operation: MutationOperation =
      switch world.draw(1...100) {
      case 1...6: .insert
      case 7...(exists ? 26 : 12): .delete
      case 13...75: exists ? .update : .insert
      default: exists ? .update : .insert
      }
    var entry = DullReplica.Entry(place: place, operation: operation)
    if operation != .insert, world.chance(10) { entry.precondition = ["n": .int(Int64(world.draw(0...9)))] }
    if operation == .delete { return entry }
    if world.chance(70) { entry.columns["title"] = .string(world.pick(["a", "b", "c"])) }
    if world.chance(50) { entry.columns["n"] = .int(Int64(world.draw(0...9))) }
    if world.chance(3) { entry.columns["title"] = .string(Schema.forbiddenTitle) }
    if world.chance(2) { entry.columns["locked"] = 1 }
    if operation == .insert {
      if place.table == "teams" { entry.columns["team"] = .string(world.chance(80) ? team : world.pick(Schema.teams)) }
      if world.chance(20) { entry.columns["id"] = .string(place.pk) }
    } else {
      if place.table == "teams", world.chance(12) { entry.columns["team"] = .string(world.pick(Schema.teams)) }
      if world.chance(40) { entry.columns["n"] = nil }
      if entry.columns["n"] == nil, world.chance(50) {
        entry.transforms["n"] = .increment(WholeNumber(String(world.draw(-2...5))) ?? .zero)
      }
      if world.chance(15) {
        let values: [Value] = [.string(world.pick(["x", "y", "z"]))]
        entry.transforms["tags"] = world.chance(70) ? .arrayUnion(values) : .arrayRemove(values)
      }
      if entry.columns.isEmpty, entry.transforms.isEmpty { entry.columns["title"] = "d" }
    }
    // An attempt on what is another's.
    if Schema.isOwned(place.table), world.chance(4) { entry.columns["owner"] = .string(world.pick(Schema.users)) }
    return entry
  }
}
