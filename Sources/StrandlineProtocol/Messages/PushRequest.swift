/// Mutations in the order in which they were written.
public struct PushRequest: WireMessage {
  public var clientID: String?
  public var schemaVersion: Int64?
  /// The sender's newest applied mutation. Decides nothing; remembered for people.
  public var lastMutationID: String?
  /// Whether all of them apply or none.
  public var isAtomic: Bool
  public var mutations: [Mutation]

  public init(
    clientID: String?, schemaVersion: Int64?, lastMutationID: String?, isAtomic: Bool, mutations: [Mutation]
  ) {
    self.clientID = clientID
    self.schemaVersion = schemaVersion
    self.lastMutationID = lastMutationID
    self.isAtomic = isAtomic
    self.mutations = mutations
  }

  public init(json: Value) throws(MessageDefect) {
    let message = MessageMember(json, "")
    clientID = try message.present("client_id")?.text()
    schemaVersion = try message.present("schema_version")?.integer()
    lastMutationID = try message.present("last_mutation_id")?.text()
    let batch = try message.required("batch")
    isAtomic = try batch.present("atomic")?.flag() ?? false
    mutations = try batch.required("mutations").list { (entry) throws(MessageDefect) in try Mutation(entry) }
  }

  public var json: Value {
    var members: [String: Value] = [
      "last_mutation_id": lastMutationID.map { .string($0) } ?? .null,
      "batch": ["atomic": .bool(isAtomic), "mutations": .array(mutations.map(\.json))],
    ]
    if let clientID { members["client_id"] = .string(clientID) }
    if let schemaVersion { members["schema_version"] = .int(schemaVersion) }
    return .object(members)
  }
}
