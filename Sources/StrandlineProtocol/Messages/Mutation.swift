/// One write to one row, as it travels.
///
/// What only a server can judge stands here as it came: `operation` may be any text and `transforms` may be malformed.
public struct Mutation: Hashable, Sendable {
  /// Unique for ever: the server decides an id once and answers the same again.
  public var id: String
  public var table: String
  public var pk: String
  /// A ``MutationOperation``, or a word that the receiver has to refuse.
  public var operation: String
  /// Exactly what the write named.
  public var columns: [String: Value]
  /// Values that the row must have; an absent column counts as null.
  public var precondition: [String: Value]?
  /// A ``HybridTimestamp``; only on tables with ``ConflictMode/hlc``.
  public var hlc: String?
  /// A ``Transform`` by column.
  public var transforms: [String: Value]?

  public init(
    id: String, table: String, pk: String, operation: String, columns: [String: Value] = [:],
    precondition: [String: Value]? = nil, hlc: String? = nil, transforms: [String: Value]? = nil
  ) {
    self.id = id
    self.table = table
    self.pk = pk
    self.operation = operation
    self.columns = columns
    self.precondition = precondition
    self.hlc = hlc
    self.transforms = transforms
  }

  init(_ entry: MessageMember) throws(MessageDefect) {
    id = try entry.present("mutation_id")?.text() ?? ""
    table = try entry.required("table").text()
    pk = try entry.required("pk").text()
    operation = try entry.required("op").text()
    columns = try entry.present("columns")?.object() ?? [:]
    precondition = try entry.present("precondition")?.object()
    hlc = try entry.present("hlc")?.text()
    transforms = try entry.present("transforms")?.object()
  }

  /// The optional keys are left out when there is nothing to say; an empty map of transforms counts as none.
  public var json: Value {
    var members: [String: Value] = [
      "mutation_id": .string(id), "table": .string(table), "pk": .string(pk), "op": .string(operation),
      "columns": .object(columns),
    ]
    if let precondition { members["precondition"] = .object(precondition) }
    if let hlc { members["hlc"] = .string(hlc) }
    if let transforms, !transforms.isEmpty { members["transforms"] = .object(transforms) }
    return .object(members)
  }
}
