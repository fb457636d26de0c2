import StrandlineProtocol

extension Device {
  /// The client asks: what it asks has to follow from what it holds.
  func prepare(_ request: PullRequest) throws {
    try takeGiven()
    // A team that outlived a reset is kept from the first pull on.
    if replica.keptTeam == nil { replica.keptTeam = team }
    let cursor = replica.position ?? replica.cursor
    try demand(request.cursor == cursor, "\(name) pulls from \(request.cursor), not \(cursor)")
    try demand(request.team == team, "\(name) pulls team \(request.team), not \(team)")
    for bucket in request.buckets where Schema.isOwned(bucket.table) {
      try demand(bucket.params["owner"]?.wireText == replica.owner, "\(name) pulls rows of \(bucket.params)")
    }
    try judge(request.clientID, request.schemaVersion)
  }

  func prepare(_ request: PushRequest) throws {
    try takeGiven()
    let queued = replica.queue.prefix(request.mutations.count)
    try demand(
      queued.map(\.id) == request.mutations.map(\.id) && !queued.isEmpty,
      "\(name) pushes \(request.mutations.map(\.id)), and its queue begins with \(queued.map { $0.id ?? "one" })")
    let batches = Set(queued.map(\.batch))
    try demand(batches.count == 1, "\(name) pushes what does not belong together")
    let isBatch = queued.first?.batch != nil
    try demand(request.isAtomic == isBatch, "\(name) pushes with atomic \(request.isAtomic)")
    if isBatch, replica.queue.count > queued.count {
      try demand(replica.queue[queued.count].batch != queued.first?.batch, "\(name) pushes a part of a batch")
    }
    for (entry, mutation) in zip(queued, request.mutations) {
      try demand(
        mutation.table == entry.place.table && mutation.pk == entry.place.pk
          && mutation.operation == entry.operation.rawValue && mutation.columns == entry.columns
          && mutation.precondition == entry.precondition
          && mutation.transforms ?? [:] == entry.transforms.mapValues(\.json)
          && (mutation.hlc != nil) == Schema.hasStamps(entry.place.table),
        "\(name) pushes \(mutation), and wrote \(entry)")
    }
    try demand(
      request.lastMutationID == replica.watermark,
      "\(name) names \(request.lastMutationID ?? "nothing") as the last, not \(replica.watermark ?? "nothing")")
    try judge(request.clientID, request.schemaVersion)
    replica.send(request.mutations.count)
  }

  private func judge(_ id: String?, _ version: Int64?) throws {
    try demand(version == Int64(schemaVersion), "\(name) names schema version \(version ?? 0)")
    try demand(replica.block == nil, "\(name) asks though it is blocked")
    guard let id else { throw SimulationFailure("\(name) names no client id") }
    if clientID == nil { clientID = id }
    try demand(id == clientID && !formerClientIDs.contains(id), "\(name) calls itself \(id)")
  }

  /// Refused for good: counted where the client is to count it.
  func noteRefusal(_ request: PushRequest) {
    if request.isAtomic || request.mutations.count == 1 { refusals[request.mutations[0].id, default: 0] += 1 }
  }

  /// A pull was closed: but for what is queued, the device shows what the server had when it made the page. Nothing was skipped, no row of
  /// another's is there.
  func judge(_ replica: DullReplica, _ visible: [Place: [String: Value]], _ team: String) throws {
    let queued = Set(replica.queue.map(\.place))
    for place in Places.all where !queued.contains(place) {
      let row = replica.rows[place]
      // A row of another team that a verdict told, or that was written here: no pull of this device asks for it.
      if place.table == "teams", visible[place] == nil, row?["team"] != .string(team) { continue }
      try demand(
        row == visible[place],
        "after a closed pull, \(name) shows \(place) as \(text(row)), and the server had \(text(visible[place]))")
    }
  }
}
