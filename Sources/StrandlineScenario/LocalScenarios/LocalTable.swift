internal import StrandlineSync

/// A table as the `create` step of a local scenario words it.
enum LocalTable {
  /// - Throws: ``SyncError`` with `CONFIG_INVALID` for words that mean no configuration.
  static func configuration(_ table: MessageMember) throws -> TableConfiguration {
    var configuration = TableConfiguration()
    if let column = try table.present("bucket_column")?.text() {
      if try table.present("bucket_owner")?.flag() ?? false {
        configuration.bucket = .byOwner(column)
      } else {
        configuration.bucket = .byColumn(column)
        configuration.bucketValue = table.present("bucket_params")?[column]?.value.wireText
      }
    }
    configuration.softDeleteColumn = try table.present("soft_delete_column")?.text()
    configuration.conflictMode = try word(table, "conflict_mode") ?? .arrival
    configuration.syncMode = try word(table, "sync_mode") ?? .readWrite
    if let key = table.present("key") { configuration.key = try columns(key) }
    if let attachments = table.present("attachments") {
      for column in try attachments.object().keys {
        configuration.attachments[column] = try attachment(attachments.required(column))
      }
    }
    return configuration
  }

  private static func word<Word: RawRepresentable<String>>(_ table: MessageMember, _ name: String) throws -> Word? {
    guard let member = table.present(name) else { return nil }
    guard case .string(let text) = member.value, let word = Word(rawValue: text) else {
      throw SyncError(.configInvalid, "\(name): \(member.value.json) is no such word")
    }
    return word
  }

  private static func columns(_ key: MessageMember) throws -> [String] {
    guard case .array(let members) = key.value else { throw SyncError(.configInvalid, "key: is no list of columns") }
    return try members.map { member in
      guard case .string(let column) = member else {
        throw SyncError(.configInvalid, "key: \(member.json) is no name of a column")
      }
      return column
    }
  }

  private static func attachment(_ attachment: MessageMember) throws -> TableConfiguration.Attachment {
    func text(_ names: String...) throws -> String {
      for name in names { if let text = try attachment.present(name)?.text() { return text } }
      return ""
    }
    return TableConfiguration.Attachment(
      storageBucket: try text("storage_bucket", "storageBucket", "bucket"),
      ownerColumn: try text("owner_column", "ownerColumn"))
  }
}
