/// A storage engine with one store open, in the words of the store benches.
///
/// A row is the bytes of ``RowGenerator``: ``RowBytes/keyByteCount`` bytes of key, then its value. Engines with columns
/// take the value apart when they write it and put it together when they read it. Beside the rows stands an outbox:
/// local changes by sequence number, and which row has one pending.
protocol StoreEngine: AnyObject, Sendable {
  /// For one thread at a time. Sees what was committed before it was made or last refreshed, or later commits too.
  func reader() throws -> any EngineReader

  /// Makes what `body` writes one durable commit; a throw leaves nothing of it. Any number of threads may call at once.
  ///
  /// Durable means that it survives a power cut when this returns, unless ``EngineSettings/syncsCommits`` is off or the
  /// engine's name says otherwise.
  func commit(_ body: (any EngineTransaction) throws -> Void) throws

  /// Removes all rows and the whole outbox in one durable step.
  func reset() throws

  /// Does what the engine offers to become small and quick to read, and waits for its end.
  func compact() throws

  /// No reader may be open.
  func close() throws
}

/// One thread's way to read. Keys are ``RowBytes/keyByteCount`` bytes.
protocol EngineReader: AnyObject {
  /// Lets go of the view that the reader may hold, and takes one of what is committed now.
  func refresh() throws

  /// Copies the value of `key` to `value`, which has room for every value, and returns its length; nil without a row.
  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int?

  /// Visits rows in the order of their keys, from the first that is not before `start`, until `body` returns false.
  /// What `body` is given lasts until it returns.
  func scan(from start: UnsafeRawPointer?, _ body: RowVisitor) throws

  /// The same from the last row backwards.
  func scanBackwards(_ body: RowVisitor) throws

  /// Visits the changes of the outbox in the order of their sequence numbers.
  func scanOutbox(_ body: (_ sequence: UInt64, _ change: UnsafeRawBufferPointer) -> Void) throws

  func close() throws
}

typealias RowVisitor = (_ key: UnsafeRawPointer, _ value: UnsafeRawBufferPointer) -> Bool

/// What a commit may do. Reads need not see what the same commit has written.
protocol EngineTransaction: AnyObject {
  /// Inserts or replaces a row.
  func put(_ row: UnsafeRawBufferPointer) throws
  func delete(_ key: UnsafeRawPointer) throws
  /// As ``EngineReader/read(_:into:)``.
  func read(_ key: UnsafeRawPointer, into value: UnsafeMutableRawPointer) throws -> Int?

  /// Puts a local change of the row `key` into the outbox, or replaces it, and notes that the row has one pending.
  func putPending(_ key: UnsafeRawPointer, sequence: UInt64, change: UnsafeRawBufferPointer) throws
  /// The change that waits for the row, copied to `change`; nil if none does.
  func pending(_ key: UnsafeRawPointer, into change: UnsafeMutableRawPointer) throws -> PendingChange?
}

struct PendingChange {
  var sequence: UInt64
  var byteCount: Int
}

/// The two parts of a row.
enum RowBytes {
  static let keyByteCount = RowGenerator.versionOffset
  /// No value and no change is longer.
  static let valueByteCountMax = RowGenerator.rowByteCountMax

  static func value(_ row: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: row[keyByteCount...])
  }
}
