/// The tables of a store that a server lives in.
///
///     counter     id                            | high_mark, tag, reap_horizon, salt    one row
///     rows        table, pk                     | number, bucket, columns, stamps
///     feed        table, bucket, kind, number, pk   | deleted_at                        change entries (kind 0), tombstones (1)
///     tombstones  table, pk, bucket             | number, deleted_at                    index by table and age
///     grants      user, table, bucket           |
///     verdicts    mutation_id                   | user, reason, table, pk, carried_row, decided_at    index by age
///     journal     table, pk, number, column     | loser, winner, mode
///     tags        number                        | tag, drawn_at                         of each commit that drew numbers
///     clients     client_id                     | user, cursor, last_mutation, schema_version, last_seen
///     tables      name                          | bucket_column, key_columns            what the feeds were built by
enum EmbeddedSchema {
  static let schema = Schema(tables: [
    TableSchema(
      "counter", key: [KeyColumn("id", .int)],
      columns: [
        ColumnSchema("high_mark", .int), ColumnSchema("tag", .int), ColumnSchema("reap_horizon", .int),
        ColumnSchema("salt", .int),
      ]),
    TableSchema(
      "rows", key: [KeyColumn("table", .string), KeyColumn("pk", .string)],
      columns: [
        ColumnSchema("number", .int), ColumnSchema("bucket", .string), ColumnSchema("columns", .object),
        ColumnSchema("stamps", .object),
      ]),
    TableSchema(
      "feed",
      key: [
        KeyColumn("table", .string), KeyColumn("bucket", .string), KeyColumn("kind", .int), KeyColumn("number", .int),
        KeyColumn("pk", .string),
      ],
      columns: [ColumnSchema("deleted_at", .int)]),
    TableSchema(
      "tombstones", key: [KeyColumn("table", .string), KeyColumn("pk", .string), KeyColumn("bucket", .string)],
      columns: [ColumnSchema("number", .int), ColumnSchema("deleted_at", .int)],
      indexes: [IndexSchema("age", ["table", "deleted_at"])]),
    TableSchema(
      "grants", key: [KeyColumn("user", .string), KeyColumn("table", .string), KeyColumn("bucket", .string)]),
    TableSchema(
      "verdicts", key: [KeyColumn("mutation_id", .string)],
      columns: [
        ColumnSchema("user", .string), ColumnSchema("reason", .string), ColumnSchema("table", .string),
        ColumnSchema("pk", .string), ColumnSchema("carried_row", .bool), ColumnSchema("decided_at", .int),
      ],
      indexes: [IndexSchema("age", ["decided_at"])]),
    TableSchema(
      "journal",
      key: [
        KeyColumn("table", .string), KeyColumn("pk", .string), KeyColumn("number", .int), KeyColumn("column", .string),
      ],
      columns: [ColumnSchema("loser", .any), ColumnSchema("winner", .string), ColumnSchema("mode", .string)]),
    TableSchema(
      "tags", key: [KeyColumn("number", .int)], columns: [ColumnSchema("tag", .int), ColumnSchema("drawn_at", .int)]),
    TableSchema(
      "clients", key: [KeyColumn("client_id", .string)],
      columns: [
        ColumnSchema("user", .string), ColumnSchema("cursor", .string), ColumnSchema("last_mutation", .string),
        ColumnSchema("schema_version", .int), ColumnSchema("last_seen", .int),
      ]),
    TableSchema(
      "tables", key: [KeyColumn("name", .string)],
      columns: [ColumnSchema("bucket_column", .string), ColumnSchema("key_columns", .array)]),
  ])

  static let counterKey: Int64 = 1
}
