internal import StrandlineProtocol

/// Puts the files of pulled rows into the queue. Their bytes come when somebody asks for them.
enum DownloadRegistration {
  static func register(
    _ named: NamedFile, of table: ClientTable, _ name: RowName, now: Int64, _ state: inout SyncState
  ) throws {
    let (column, reference) = (named.column, named.reference)
    let present = try state.attachment(reference.text)
    if present?.isLive ?? false { return }
    var file = AttachmentRow(
      reference: reference.text, uploadID: "", name: name, column: column,
      bucket: table.configuration.attachments[column]?.storageBucket ?? "", owner: reference.owner ?? "",
      direction: .download, state: .queued, createdAt: now)
    if let present {
      file.sha256 = present.sha256
      if present.state == .evicted {
        file.contentType = present.contentType
        file.size = present.size
        file.localPath = present.localPath
      }
    }
    try state.put(file, now: now)
  }
}
