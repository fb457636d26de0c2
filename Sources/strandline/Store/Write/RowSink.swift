import Strandline
import StrandlineLog

/// Lines of JSON as rows of a table.
struct RowSink: LineSink, ~Copyable {
  private let store: Store
  private let table: TableSchema
  private let durability: Durability
  private let metadata: [String: String]
  private var rows: [(row: Row, number: Int)] = []
  /// Bytes of the lines in hand.
  private var byteCount = 0

  /// A commit larger than this is written before its batch is full.
  private static let commitByteCountMax = 64 << 20

  init(store: Store, table: TableSchema, durability: Durability, metadata: [String: String]) {
    self.store = store
    self.table = table
    self.durability = durability
    self.metadata = metadata
  }

  var gatheredCount: Int { rows.count }
  var lineByteCountMax: Int { CommitDraft.recordByteCountMax }
  var durable: SequenceNumber { store.position.sequence }

  mutating func add(_ line: UnsafeRawBufferPointer, number: Int) throws -> CommittedLines? {
    // Blank lines separate nothing and say nothing.
    if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
    let row = RowLine.keyed(try RowLine.row(line, "line \(number)"), table)
    var written: CommittedLines?
    if byteCount + line.count > Self.commitByteCountMax { written = try commit() }
    rows.append((row, number))
    byteCount += line.count
    return written
  }

  /// Commits the rows; one that the table does not take is left out with all behind it, and reported.
  mutating func commit() throws -> CommittedLines? {
    guard !rows.isEmpty else { return nil }
    let batch = rows
    rows.removeAll(keepingCapacity: true)
    byteCount = 0
    let table = table.name
    return try store.write(metadata: metadata, durability: durability, cause: .imported) {
      (transaction: inout Transaction) -> CommittedLines in
      for (index, item) in batch.enumerated() {
        do throws(StoreError) {
          try transaction.put(item.row, into: table)
        } catch {
          let refusal = RowLine.placed(error, "line \(item.number)")
          return CommittedLines(sequence: transaction.sequence, lineCount: index, refusal: refusal)
        }
      }
      return CommittedLines(sequence: transaction.sequence, lineCount: batch.count)
    }
  }

  func sync() throws { try store.sync() }
}
