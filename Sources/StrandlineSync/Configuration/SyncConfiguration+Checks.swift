internal import StrandlineProtocol

extension SyncConfiguration {
  /// Checks everything that can be judged without the store.
  ///
  /// - Throws: ``SyncErrorCode/configInvalid``, ``SyncErrorCode/attachmentPortsMissing``.
  func check() throws(SyncError) {
    if let storePath, storePath.isEmpty {
      throw .invalid("storePath", "is empty; nil or \":memory:\" is a store in memory")
    }
    if let clientID, UUIDBytes(clientID) == nil { throw .invalid("clientID", "\"\(clientID)\" is no UUID") }
    if schemaVersion < 1 { throw .invalid("schemaVersion", "is \(schemaVersion); the lowest is 1") }
    if let pageLimit, pageLimit < 1 { throw .invalid("pageLimit", "is \(pageLimit); the lowest is 1") }
    if attachmentAttemptCountMax < 1 {
      throw .invalid("attachmentAttemptCountMax", "is \(attachmentAttemptCountMax); the lowest is 1")
    }
    if keptCopies.countMax < 1 {
      throw .invalid("keptCopies.countMax", "is \(keptCopies.countMax); the lowest is 1")
    }
    if let callbackLimit, callbackLimit <= .zero { throw .invalid("callbackLimit", "is not positive") }
    for column in localOnlyColumns { try Self.check(column: column, in: "localOnlyColumns") }
    for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
      if name.isEmpty || name.utf8.count > 200 { throw .invalid("tables", "a name has 1 to 200 bytes: \"\(name)\"") }
      if name.hasPrefix(StateTable.prefix) {
        throw .invalid("tables", "\(name): names that begin with \(StateTable.prefix) are the client's own")
      }
      try table.check("tables.\(name)")
    }
    if attachmentRoot == nil, let name = tables.filter({ !$0.value.attachments.isEmpty }).keys.min() {
      throw SyncError(
        .attachmentPortsMissing, "table \(name) has attachments: set attachmentRoot to a directory for their bytes")
    }
  }

  static func check(column: String, in place: String) throws(SyncError) {
    if column.isEmpty || column.utf8.count > 256 {
      throw .invalid(place, "the name of a column has 1 to 256 bytes: \"\(column.prefix(40))\"")
    }
    if HiddenColumn.isHidden(column) { throw .invalid(place, "names of columns do not begin with U+0001") }
  }
}

extension TableConfiguration {
  fileprivate func check(_ place: String) throws(SyncError) {
    if key.isEmpty { throw .invalid("\(place).key", "is empty") }
    for column in key { try SyncConfiguration.check(column: column, in: "\(place).key") }
    if Set(key).count != key.count { throw .invalid("\(place).key", "repeats a column") }
    switch bucket {
    case .none: break
    case .byOwner(let column):
      try SyncConfiguration.check(column: column, in: "\(place).bucket")
      if key.contains(column) { throw .invalid("\(place).bucket", "the owner's column \(column) is a key column") }
    case .byColumn(let column):
      try SyncConfiguration.check(column: column, in: "\(place).bucket")
    }
    if let bucketValue, !bucketValue.isEmpty {
      if case .none = bucket { throw .invalid("\(place).bucketValue", "the table has no bucket") }
    }
    if let column = softDeleteColumn, !column.isEmpty {
      try SyncConfiguration.check(column: column, in: "\(place).softDeleteColumn")
    }
    for (column, attachment) in attachments {
      try SyncConfiguration.check(column: column, in: "\(place).attachments")
      if attachment.storageBucket.isEmpty {
        throw .invalid("\(place).attachments.\(column)", "has no storage bucket")
      }
      if attachment.ownerColumn.isEmpty { throw .invalid("\(place).attachments.\(column)", "has no owner column") }
    }
    if !attachments.isEmpty, key != ["id"] { throw .invalid("\(place).key", "a table with attachments has key id") }
    for index in indexes {
      for column in index.columns { try SyncConfiguration.check(column: column, in: "\(place).indexes.\(index.name)") }
    }
  }
}

extension SyncError {
  fileprivate static func invalid(_ place: String, _ reason: String) -> SyncError {
    SyncError(.configInvalid, "\(place): \(reason)")
  }
}
