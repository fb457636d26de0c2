internal import StrandlineProtocol

// Tables of the store that hold what a client knows besides rows. Rows are in tables of their own names; their key is the hidden column
// of HiddenColumn.pk.
//
//   strandline.outbox        seq                 FIFO; index by mutation id
//   strandline.tombstones    table, pk           "do not bring this row back"
//   strandline.dead_letters  number              oldest first
//   strandline.rejections    mutation_id         one journal entry for each id
//   strandline.overwrites    number
//   strandline.pushed        number              ids of applied mutations, the newest 1,000
//   strandline.pages         page, part          staged pages of an unfinished pull
//   strandline.attachments   reference           indexes by state and by what is in flight
//   strandline.confirmations table, pk           rows of writes that were carried over a client reset and answered
//   strandline.resets        number              reports of client resets, the newest 20
//   strandline.meta          key
enum StateTable {
  static let prefix = "strandline."
  static let outbox = "strandline.outbox"
  static let tombstones = "strandline.tombstones"
  static let deadLetters = "strandline.dead_letters"
  static let rejections = "strandline.rejections"
  static let overwrites = "strandline.overwrites"
  static let pushed = "strandline.pushed"
  static let pages = "strandline.pages"
  static let attachments = "strandline.attachments"
  static let confirmations = "strandline.confirmations"
  static let resets = "strandline.resets"
  static let meta = "strandline.meta"

  /// What a client's past writes came to, and its resets: they go on behind a reset.
  static let journals = [deadLetters, rejections, overwrites, pushed, resets]

  static let outboxByMutation = "by_mutation"
  static let attachmentsByState = "by_state"
  static let attachmentsInFlight = "by_flight"

  static let schemas: [TableSchema] = [
    TableSchema(
      outbox, key: [KeyColumn("seq", .int)],
      columns: [
        ColumnSchema("mutation_id", .string), ColumnSchema("table", .string), ColumnSchema("pk", .string),
        ColumnSchema("op", .string), ColumnSchema("columns", .object), ColumnSchema("precondition", .object),
        ColumnSchema("transforms", .object), ColumnSchema("batch_id", .string), ColumnSchema("pre_image", .object),
        ColumnSchema("hlc", .string), ColumnSchema("created_at", .int), ColumnSchema("perhaps_in_base", .bool),
        ColumnSchema("deferred", .bool),
      ],
      indexes: [IndexSchema(outboxByMutation, ["mutation_id"])]),
    TableSchema(
      tombstones, key: [KeyColumn("table", .string), KeyColumn("pk", .string)],
      columns: [ColumnSchema("seq", .string), ColumnSchema("deleted_at", .string)]),
    TableSchema(
      deadLetters, key: [KeyColumn("number", .int)],
      columns: [
        ColumnSchema("mutation_id", .string), ColumnSchema("table", .string), ColumnSchema("pk", .string),
        ColumnSchema("op", .string), ColumnSchema("columns", .object), ColumnSchema("precondition", .object),
        ColumnSchema("transforms", .object), ColumnSchema("batch_id", .string), ColumnSchema("hlc", .string),
        ColumnSchema("reason", .string), ColumnSchema("server_row", .object), ColumnSchema("created_at", .int),
        ColumnSchema("at", .int),
      ]),
    TableSchema(
      rejections, key: [KeyColumn("mutation_id", .string)],
      columns: [
        ColumnSchema("number", .int), ColumnSchema("table", .string), ColumnSchema("pk", .string),
        ColumnSchema("kind", .string), ColumnSchema("reason", .string), ColumnSchema("changed_columns", .array),
        ColumnSchema("server_row", .object), ColumnSchema("at", .int), ColumnSchema("dismissed", .bool),
      ]),
    TableSchema(
      overwrites, key: [KeyColumn("number", .int)],
      columns: [
        ColumnSchema("table", .string), ColumnSchema("pk", .string), ColumnSchema("column", .string),
        ColumnSchema("loser_value", .any), ColumnSchema("winner_mutation_id", .string),
        ColumnSchema("conflict_mode", .string), ColumnSchema("winner_seq", .string), ColumnSchema("at", .int),
        ColumnSchema("dismissed", .bool),
      ]),
    TableSchema(pushed, key: [KeyColumn("number", .int)], columns: [ColumnSchema("mutation_id", .string)]),
    TableSchema(
      pages, key: [KeyColumn("page", .int), KeyColumn("part", .int)], columns: [ColumnSchema("body", .object)]),
    TableSchema(
      attachments, key: [KeyColumn("reference", .string)],
      columns: [
        ColumnSchema("upload_id", .string), ColumnSchema("table", .string), ColumnSchema("pk", .string),
        ColumnSchema("column", .string), ColumnSchema("bucket", .string), ColumnSchema("owner", .string),
        ColumnSchema("sha256", .string), ColumnSchema("content_type", .string), ColumnSchema("size", .int),
        ColumnSchema("local_path", .string), ColumnSchema("direction", .string), ColumnSchema("state", .string),
        ColumnSchema("in_flight", .bool), ColumnSchema("fingerprint", .string), ColumnSchema("progress", .any),
        ColumnSchema("attempts", .int), ColumnSchema("permanent", .bool), ColumnSchema("chunk_offset", .int),
        ColumnSchema("session_url", .string), ColumnSchema("error", .string), ColumnSchema("error_code", .string),
        ColumnSchema("created_at", .int), ColumnSchema("updated_at", .int),
      ],
      indexes: [IndexSchema(attachmentsByState, ["state"]), IndexSchema(attachmentsInFlight, ["in_flight"])]),
    TableSchema(
      confirmations, key: [KeyColumn("table", .string), KeyColumn("pk", .string)],
      columns: [ColumnSchema("base", .object)]),
    TableSchema(resets, key: [KeyColumn("number", .int)], columns: [ColumnSchema("report", .string)]),
    TableSchema(meta, key: [KeyColumn("key", .string)], columns: [ColumnSchema("value", .any)]),
  ]
}
