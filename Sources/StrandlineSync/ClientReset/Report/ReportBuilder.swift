internal import StrandlineProtocol

extension ClientResetReport {
  /// Takes in what became of the queue.
  mutating func count(_ recovered: [RecoveredEntry]) {
    for entry in recovered { count(entry) }
    outboxDepth = entries.kept + entries.deferred
  }

  private mutating func count(_ recovered: RecoveredEntry) {
    let original = recovered.original
    func add(_ body: (inout Entries) -> Void) {
      body(&entries)
      body(&entriesByTable[original.name.table, default: Entries()])
    }
    add { $0.pending += 1 }
    switch recovered.decision {
    case .keep(let isMerged):
      add {
        $0.kept += 1
        if isMerged { $0.merged += 1 }
      }
    case .settle(let isWithdrawn):
      add {
        $0.settled += 1
        if isWithdrawn { $0.withdrawn += 1 }
      }
    case .drop(let drop):
      add { $0.dropped += 1 }
      guard dropped.count < Self.entryCountMax else {
        droppedTruncated = true
        return
      }
      dropped.append(
        Dropped(
          mutationID: original.mutationID, table: original.name.table, pk: original.name.pk,
          operation: original.operation.rawValue, column: drop.column, reason: drop.reason, batchID: original.batchID,
          culprit: drop.culprit))
    case .defer(let reason):
      add { $0.deferred += 1 }
      guard deferred.count < Self.entryCountMax else {
        deferredTruncated = true
        return
      }
      deferred.append(
        Deferred(
          mutationID: original.mutationID, table: original.name.table, pk: original.name.pk, reason: reason))
    case .discard: add { $0.discarded += 1 }
    }
  }
}
