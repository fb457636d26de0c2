/// A question for what is new since a cursor.
public struct PullRequest: WireMessage {
  /// What is asked for of one table: rows whose columns have these values. Several entries for one table add up.
  public struct Bucket: Hashable, Sendable {
    public var table: String
    public var params: [String: Value]

    public init(table: String, params: [String: Value]) {
      self.table = table
      self.params = params
    }
  }

  /// The device; nil where the sender has none.
  public var clientID: String?
  /// Nil where the request has none, which a server takes as below every minimum.
  public var schemaVersion: Int64?
  public var cursor: String
  /// Most entries of the page; nil leaves it to the server.
  public var limit: Int64?
  public var buckets: [Bucket]

  public init(clientID: String?, schemaVersion: Int64?, cursor: String, limit: Int64?, buckets: [Bucket]) {
    self.clientID = clientID
    self.schemaVersion = schemaVersion
    self.cursor = cursor
    self.limit = limit
    self.buckets = buckets
  }

  public init(json: Value) throws(MessageDefect) {
    let message = MessageMember(json, "")
    clientID = try message.present("client_id")?.text()
    schemaVersion = try message.present("schema_version")?.integer()
    cursor = try message.required("cursor").text()
    limit = try message.present("limit")?.integer()
    buckets = try message.required("buckets").list { (bucket) throws(MessageDefect) in
      Bucket(table: try bucket.required("table").text(), params: try bucket.present("params")?.object() ?? [:])
    }
  }

  public var json: Value {
    var members: [String: Value] = [
      "cursor": .string(cursor),
      "buckets": .array(buckets.map { ["table": .string($0.table), "params": .object($0.params)] }),
    ]
    if let clientID { members["client_id"] = .string(clientID) }
    if let schemaVersion { members["schema_version"] = .int(schemaVersion) }
    if let limit { members["limit"] = .int(limit) }
    return .object(members)
  }
}
