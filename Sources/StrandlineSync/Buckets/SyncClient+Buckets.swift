internal import StrandlineProtocol

extension SyncClient {
  /// Sets bucket values by column, in every table that has such a bucket column; other columns keep theirs. An empty value unsets.
  ///
  /// A value that takes another one's place makes the next pull begin anew: rows outside the new scope vanish when it closes. Writes that
  /// are queued stay.
  ///
  /// - Throws: ``SyncErrorCode/bucketUnset`` for a column that is no table's bucket; ``SyncErrorCode/store``. Nothing was changed then.
  public func setBucket(_ params: [String: String]) async throws {
    try ensureOpen()
    let columns = Set(tables.all.compactMap(\.configuration.bucket.column))
    if let unknown = params.keys.filter({ !columns.contains($0) }).min() {
      let known = columns.isEmpty ? "there are none" : "there are: \(columns.sorted().joined(separator: ", "))"
      throw SyncError(.bucketUnset, "\"\(unknown)\" is the bucket column of no configured table; \(known)")
    }
    var values: [(table: String, column: String, value: String)] = []
    for table in tables.all {
      if let column = table.configuration.bucket.column, let value = params[column] {
        values.append((table.name, column, value))
      }
    }
    let settled = values
    try await sessionGate.pass { try await fill(settled) }
  }

  /// Records bucket values and puts them in force. With the session gate held.
  private func fill(_ values: [(table: String, column: String, value: String)]) async throws {
    try await commit(.scopeChanged) { state in try state.record(values) }
    withMemory { memory in for value in values { memory.buckets[value.table] = value.value } }
  }

  /// Puts configured values and the kept owner in force. With the session gate held.
  func fillBucketsAtOpen() async throws {
    let owner = try read { try $0.metaText(.ownerSubject) }
    var configured: [String: String] = [:]
    for table in tables.all {
      if let column = table.configuration.bucket.column, let value = table.configuration.bucketValue, !value.isEmpty {
        configured[column] = value
      }
    }
    var values: [(table: String, column: String, value: String)] = []
    for table in tables.all {
      switch table.configuration.bucket {
      case .none: break
      case .byOwner(let column):
        if let value = owner ?? configured[column] { values.append((table.name, column, value)) }
      case .byColumn(let column):
        let own = table.configuration.bucketValue.flatMap { $0.isEmpty ? nil : $0 }
        if let value = own ?? configured[column] { values.append((table.name, column, value)) }
      }
    }
    if !values.isEmpty { try await fill(values) }
  }

  /// The bucket entries of a pull, each value recorded as in force. With the session gate held.
  ///
  /// - Throws: ``SyncErrorCode/bucketUnset`` if a value is missing.
  func bucketsForPull() async throws -> [PullRequest.Bucket] {
    let unset = ownerBuckets.filter { pair in withMemory { $0.buckets[pair.table] ?? "" }.isEmpty }
    if !unset.isEmpty, let owner = try read({ try $0.metaText(.ownerSubject) }) {
      try await fill(unset.map { ($0.table, $0.column, owner) })
    }
    let buckets = withMemory { $0.buckets }
    var entries: [PullRequest.Bucket] = []
    var inForce: [(table: String, column: String, value: String)] = []
    for table in tables.all {
      guard let column = table.configuration.bucket.column else {
        entries.append(PullRequest.Bucket(table: table.name, params: [:]))
        continue
      }
      guard let value = buckets[table.name], !value.isEmpty else {
        throw SyncError(
          .bucketUnset,
          "the bucket of table \(table.name) has no value; set column \(column) with setBucket, or sign in")
      }
      entries.append(PullRequest.Bucket(table: table.name, params: [column: .string(value)]))
      inForce.append((table.name, column, value))
    }
    // A value that outlived a reset is not recorded yet.
    let scope = try read { try BucketScope(try $0.meta(.bucketScope)) }
    if inForce.contains(where: { scope.kept($0.table, $0.column) != $0.value }) {
      let values = inForce
      try await commit(.scopeChanged) { state in try state.record(values) }
    }
    return entries
  }
}
