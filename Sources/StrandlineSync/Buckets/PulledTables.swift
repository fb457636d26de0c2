internal import StrandlineProtocol

// Which tables the cursor speaks of: it is past what the tables of closed pulls had, and says nothing of any other.

extension SyncState {
  /// Takes note that the pull which closes is of these tables.
  mutating func recordPulledTables() throws {
    let names = Value.array(tables.all.map { .string($0.name) })
    if try meta(.pulledTables) != names { try setMeta(.pulledTables, names) }
  }

  /// Arms a restart where a table is asked for that the closed pulls were not of.
  mutating func restartForNewTables() throws {
    try recordPulledTables()
    try restartForScope()
  }
}

extension ReadView {
  /// Whether there is a table that the closed pulls were not of. A store of an earlier version does not know, and is left as it is.
  func hasUnpulledTable(_ tables: ClientTables) throws -> Bool {
    guard case .array(let known)? = try meta(.pulledTables) else { return false }
    let names = Set(known)
    return tables.all.contains { !names.contains(.string($0.name)) }
  }
}
