internal import StrandlineProtocol

extension SyncState {
  mutating func resetRecord() throws -> ResetRecord? { ResetRecord(try metaText(.resetRecord)) }

  mutating func set(_ record: ResetRecord?) throws {
    try setMeta(.resetRecord, try record.map { .string(try StoredJSON.encode($0)) })
  }

  mutating func resetDemand() throws -> ClientResetDemand? {
    try metaText(.resetDemand).flatMap { StoredJSON.decode(ClientResetDemand.self, $0) }
  }

  mutating func set(_ demand: ClientResetDemand?) throws {
    try setMeta(.resetDemand, try demand.map { .string(try StoredJSON.encode($0)) })
  }

  /// Ends syncing until the demand is met. The application hears of a gate at once; of another demand only if it has to act.
  mutating func latch(_ demand: ClientResetDemand) throws {
    try Staging.clear(&self)
    try setMeta(.pageCursor, nil)
    try setMeta(.isRehydrating, nil)
    try set(demand)
    if demand.kind == .gate {
      try latch(.resetRequired)
    } else {
      try setMeta(.softBlockReason, .string(SoftBlockReason.resetRequired.rawValue))
    }
  }

  /// Forgets the demand and lets requests through again.
  mutating func liftDemand() throws {
    try set(nil as ClientResetDemand?)
    if try softBlock() == .resetRequired { try setMeta(.softBlockReason, nil) }
  }

  /// The reset is over once nothing that it carried is queued any more and a pull has closed since.
  mutating func acknowledgeReset() throws {
    guard let record = try resetRecord(), record.phase == .switched, record.after == .ended else { return }
    let carried = try store.query(StateTable.outbox).where("seq", .lessThanOrEquals, .int(record.carriedThrough))
      .first()
    if carried == nil { try set(nil as ResetRecord?) }
  }

  // MARK: Reports

  static var reportCountMax: Int64 { 20 }

  mutating func keep(_ report: ClientResetReport) throws {
    let number = try draw(.nextReset)
    try store.put(["number": .int(number), "report": .string(try StoredJSON.encode(report))], into: StateTable.resets)
    try store.delete(key: [.int(number - Self.reportCountMax)], from: StateTable.resets)
  }

  /// Replaces the report of an attempt.
  mutating func replace(_ report: ClientResetReport) throws {
    for row in try store.query(StateTable.resets).order(by: "number", ascending: false).all() {
      guard case .string(let text)? = row["report"], let kept = StoredJSON.decode(ClientResetReport.self, text),
        kept.attemptID == report.attemptID
      else { continue }
      var row = row
      row["report"] = .string(try StoredJSON.encode(report))
      try store.put(row, into: StateTable.resets)
      return
    }
  }
}

extension ReadView {
  func resetRecord() throws -> ResetRecord? { ResetRecord(try metaText(.resetRecord)) }

  func resetDemand() throws -> ClientResetDemand? {
    try metaText(.resetDemand).flatMap { StoredJSON.decode(ClientResetDemand.self, $0) }
  }

  /// Reports of client resets, the oldest first.
  func resetReports() throws -> [ClientResetReport] {
    try query(StateTable.resets).all().compactMap { row in
      guard case .string(let text)? = row["report"] else { return nil }
      return StoredJSON.decode(ClientResetReport.self, text)
    }
  }
}
