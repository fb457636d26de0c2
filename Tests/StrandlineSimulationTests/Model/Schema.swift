import StrandlineProtocol
import StrandlineServer
import StrandlineSync

/// The tables of every run: two of a user's own, one of them with stamps, one for all, and one of teams.
enum Schema {
  static let users = ["ann", "bob", "cleo"]
  static let teams = ["red", "blue"]
  static let tables = ["notes", "shared", "tasks", "teams"]
  static let forbiddenTitle = "forbidden"
  static let mutationCountMax = 5
  /// 2026-01-01T00:00:00.000Z
  static let start: Int64 = 1_767_225_600_000

  static let ofClients: [String: TableConfiguration] = [
    "notes": TableConfiguration(bucket: .byOwner("owner")),
    "shared": TableConfiguration(),
    "tasks": TableConfiguration(bucket: .byOwner("owner"), conflictMode: .hlc),
    "teams": TableConfiguration(bucket: .byColumn("team")),
  ]

  static func ofServer(schemaVersionMin: Int64) -> ServerConfiguration {
    func table(
      _ bucket: String?, _ mode: ConflictMode = .arrival, _ policy: RowPolicy = .bucketOwner
    ) -> ServerTable {
      ServerTable(
        bucketColumn: bucket, conflictMode: mode, keepsJournal: true, deniedColumns: ["locked"], policy: policy,
        rule: { $0.columns["title"] != .string(forbiddenTitle) }, schemaVersionMin: schemaVersionMin)
    }
    var configuration = ServerConfiguration(tables: [
      "notes": table("owner"), "shared": table(nil), "tasks": table("owner", .hlc),
      "teams": table("team", .arrival, .open),
    ])
    configuration.limits.mutationCountMax = mutationCountMax
    configuration.limits.pullScanCountMax = 7
    return configuration
  }

  static func isOwned(_ table: String) -> Bool { table == "notes" || table == "tasks" }
  static func hasStamps(_ table: String) -> Bool { table == "tasks" }
  static func bucketColumn(_ table: String) -> String? {
    isOwned(table) ? "owner" : table == "teams" ? "team" : nil
  }

  static func transforms(_ json: [String: Value]?) -> [String: Transform] {
    (json ?? [:]).compactMapValues { try? Transform($0, for: .server) }
  }

  /// A token of a user, as far as a client reads it.
  static func token(_ user: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let bytes = Array("{\"sub\":\"\(user)\"}".utf8)
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = Array(bytes[start..<min(start + 3, bytes.count)])
      let bits = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
      for place in 0...group.count { text.append(digits[bits >> (18 - 6 * place) & 63]) }
    }
    return "e30.\(text).c2ln"
  }

  /// Whom the server takes the bearer of a token for.
  static func user(of token: String) -> String? { users.first { self.token($0) == token } }
}
