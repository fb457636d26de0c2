/// What a state is read from: a view of the store, or a transaction at work.
protocol EmbeddedSource {
  func get(key: [Value], in table: String) throws(StoreError) -> Row?
  func query(_ table: String) throws(StoreError) -> Query
}

extension ReadView: EmbeddedSource {}

/// A transaction as something that several readers may hold while its closure runs.
final class TransactionSource: EmbeddedSource {
  private var transaction: UnsafeMutablePointer<Transaction>?

  init(_ transaction: UnsafeMutablePointer<Transaction>) { self.transaction = transaction }

  /// The transaction is gone: whoever still asks is told so.
  func end() { transaction = nil }

  func get(key: [Value], in table: String) throws(StoreError) -> Row? {
    try live().pointee.get(key: key, in: table)
  }

  func query(_ table: String) throws(StoreError) -> Query { try live().pointee.query(table) }

  private func live() throws(StoreError) -> UnsafeMutablePointer<Transaction> {
    guard let transaction else {
      throw .invalidQuery(reason: "the state belongs to a commit, and is asked outside of it")
    }
    return transaction
  }
}
