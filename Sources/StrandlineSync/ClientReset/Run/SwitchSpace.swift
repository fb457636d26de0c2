internal import Glibc
@_spi(Engine) internal import Strandline
@_spi(Engine) internal import StrandlineLog
internal import StrandlineProtocol

/// What a switch writes beside the fresh copy, which is on disk by then: the layer that is laid over it, the kept copy's own files, and
/// the segment that begins behind it. An upper bound.
enum SwitchSpace {
  /// Of META and the report in a kept copy.
  private static let copyByteCount: Int64 = 1 << 20

  /// - Parameter base: the fresh copy, written out.
  /// - Throws: ``StoreError/outOfSpace(_:)``, where the disk says that there is less. One that cannot say is tried.
  static func ensure(
    in store: Store, _ record: ResetRecord, _ configuration: SyncConfiguration, base: StagedLayer
  ) throws {
    guard let free = store.freeByteCount() else { return }
    guard free < (try needed(store.view(), record, configuration, base: base)) else { return }
    throw StoreError.outOfSpace(IOFailure(operation: .allocate, path: store.path, errno: Errno(ENOSPC)))
  }

  private static func needed(
    _ before: ReadView, _ record: ResetRecord, _ configuration: SyncConfiguration, base: StagedLayer
  ) throws -> Int64 {
    var count = copyByteCount + Int64(configuration.storeOptions.log.spaceAheadByteCount)
    if record.running == .recover {
      // A write that goes on is its entry, its row and that row's image before; one that is dropped is a dead letter.
      count += 3 * (try weight(of: StateTable.outbox, before))
    }
    for table in StateTable.journals + [StateTable.attachments] { count += try weight(of: table, before) }
    // Rows that get this device's own columns are written again.
    if !configuration.localOnlyColumns.isEmpty { count += Int64(clamping: base.byteCount) }
    return count
  }

  private static func weight(of table: String, _ view: ReadView) throws -> Int64 {
    var sum: Int64 = 0
    let rows = try view.query(table).rows()
    while let row = try rows.next() {
      sum += row.reduce(0) { $0 + Int64($1.column.utf8.count + $1.value.weight) }
    }
    return sum
  }
}
