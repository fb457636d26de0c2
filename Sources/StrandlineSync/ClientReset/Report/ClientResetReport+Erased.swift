@_spi(Engine) internal import Strandline
internal import StrandlineProtocol

extension ClientResetReport {
  /// Takes in that everything goes: what the action of the manual way erases.
  mutating func countErased(_ before: ReadView) throws {
    for (table, count) in try ErasedState.queuedMutations(before) {
      entries.pending += count
      entries.discarded += count
      entriesByTable[table, default: .init()].pending = count
      entriesByTable[table, default: .init()].discarded = count
    }
    for table in before.tableNames where !table.hasPrefix(StateTable.prefix) {
      let count = try before.query(table).count()
      if count > 0 { rowsByTable[table, default: .init()].removed = count }
    }
    oldClientID = try before.metaText(.clientID)
    oldAnchor = try before.metaText(.historyAnchor)
    sequenceBefore = before.sequence.rawValue
  }
}
