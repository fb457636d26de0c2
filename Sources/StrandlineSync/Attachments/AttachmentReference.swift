internal import StrandlineProtocol

/// What the column of a row says to name a file: `owner/pk/upload.ext` where this client made it, any text otherwise. Told apart by bytes.
struct AttachmentReference: Hashable, Sendable, Comparable {
  /// Longest reference that the queue can hold whatever is in it.
  static let byteCountMax = 480

  let text: String

  /// Nil for a text that names nothing, or is too long to be kept.
  init?(_ text: String) {
    if text.isEmpty || text.utf8.count > Self.byteCountMax { return nil }
    self.text = text
  }

  /// The reference in a cell, where there is one.
  init?(_ cell: Value?) {
    guard case .string(let text)? = cell else { return nil }
    self.init(text)
  }

  /// The user that the object belongs to: what stands in front of the first slash.
  var owner: String? {
    guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    let owner = String(text[..<slash])
    return owner.isEmpty ? nil : RowKey.lowercasedUUID(owner)
  }

  static func == (left: AttachmentReference, right: AttachmentReference) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

  static func < (left: AttachmentReference, right: AttachmentReference) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

/// A column and the file that it names.
struct NamedFile: Hashable, Sendable {
  var column: String
  var reference: AttachmentReference
}

extension ClientTable {
  /// Columns whose values are references, sorted.
  var attachmentColumns: [String] { configuration.attachments.keys.sorted() }
  var hasAttachments: Bool { !configuration.attachments.isEmpty }

  /// What the attachment columns among these name, in the order of their names.
  func references(in columns: [String: Value]?) -> [NamedFile] {
    guard let columns, hasAttachments else { return [] }
    return attachmentColumns.compactMap { column in
      AttachmentReference(columns[column]).map { NamedFile(column: column, reference: $0) }
    }
  }
}

extension ClientTables {
  var hasAttachments: Bool { all.contains { $0.hasAttachments } }
}
