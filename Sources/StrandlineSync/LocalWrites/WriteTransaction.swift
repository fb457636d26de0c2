public import StrandlineProtocol

/// Several local writes that become one commit and one atomic batch, or nothing. Handed to the closure of ``SyncClient/write(_:)``.
///
/// Reads in it see what it wrote.
public struct WriteTransaction: ~Copyable {
  private var state: SyncState
  private let context: WriteContext
  private let batchID: String
  private var written: [SyncState.Written] = []
  /// The first write that threw: part of it may stand, so nothing may be committed.
  private var failure: (any Error)?

  private init(_ state: consuming SyncState, _ context: WriteContext) {
    self.state = state
    self.context = context
    batchID = context.ids.uuid()
  }

  static func with<Result>(
    _ state: inout SyncState, _ context: WriteContext, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> (Result, [SyncState.Written]) {
    var transaction = WriteTransaction(state, context)
    // No closure may hold the transaction here: optimised, what is consumed behind it was found to be rubbish (Swift 6.3).
    do {
      let result = try body(&transaction)
      if let failure = transaction.failure { throw failure }
      let written = transaction.written
      state = transaction.intoState()
      return (result, written)
    } catch {
      state = transaction.intoState()
      throw error
    }
  }

  private consuming func intoState() -> SyncState { state }

  /// Inserts a row; without a key in the columns or in `pk` it gets a new one.
  ///
  /// - Returns: the row's key.
  /// - Throws: ``SyncError`` as ``SyncClient/apply(_:to:pk:columns:mutationID:transforms:precondition:)``, as do the others.
  @discardableResult
  public mutating func insert(
    _ columns: [String: Value], into table: String, pk: String? = nil
  ) throws -> String {
    try apply(LocalWrite(table: table, pk: pk, operation: .insert, columns: columns))
  }

  public mutating func update(
    _ pk: String, in table: String, set columns: [String: Value] = [:], transforms: [String: Transform] = [:],
    precondition: [String: Value]? = nil
  ) throws {
    try apply(
      LocalWrite(
        table: table, pk: pk, operation: .update, columns: columns, transforms: transforms.mapValues(\.json),
        precondition: precondition))
  }

  public mutating func delete(_ pk: String, from table: String, precondition: [String: Value]? = nil) throws {
    try apply(LocalWrite(table: table, pk: pk, operation: .delete, precondition: precondition))
  }

  /// The row with a key, as reads give it; nil: there is none. Rows that are marked as deleted are given too.
  public mutating func row(_ pk: String, in table: String) throws -> Row? {
    let table = try state.tables.named(table)
    let name = RowName(table: table.name, pk: RowKey.normalized(pk, count: table.key.count))
    return try state.row(name)?.answer(name.pk, of: table)
  }

  @discardableResult
  private mutating func apply(_ write: LocalWrite) throws -> String {
    do {
      var write = write
      write.batchID = batchID
      let one = try state.apply(write, context)
      written.append(one)
      return one.name.pk
    } catch {
      let error = SyncError.thrown(for: error)
      failure = failure ?? error
      throw error
    }
  }
}

extension RowImage {
  /// The row as reads give it: with the lone key column.
  func answer(_ pk: String, of table: ClientTable) -> Row {
    var cells = columns
    if let key = table.loneKey, cells[key] == nil { cells[key] = .string(pk) }
    return Row(cells)
  }
}
