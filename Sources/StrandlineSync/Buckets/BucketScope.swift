internal import StrandlineProtocol

/// The last bucket values that were in force, by table and column, as `strandline.meta` keeps them.
struct BucketScope: Hashable, Sendable {
  private var values: [String: [String: String]] = [:]

  init(_ value: Value?) throws(SyncError) {
    guard let value else { return }
    guard case .object(let tables) = value else { throw Self.defect }
    for (table, entry) in tables {
      guard case .object(let columns) = entry else { throw Self.defect }
      for (column, value) in columns {
        guard case .string(let text) = value else { throw Self.defect }
        values[table, default: [:]][column] = text
      }
    }
  }

  private static var defect: SyncError { SyncError(.json, "the stored bucket scope does not decode") }

  var value: Value { .object(values.mapValues { .object($0.mapValues { .string($0) }) }) }

  func kept(_ table: String, _ column: String) -> String? { values[table]?[column] }

  /// Takes note of a value that is not empty; answers whether it takes another one's place.
  mutating func record(_ value: String, _ table: String, _ column: String) -> Bool {
    let former = values[table]?[column]
    values[table, default: [:]][column] = value
    return former.map { $0 != value } ?? false
  }
}

extension SyncState {
  /// Records bucket values by table; where one takes another's place, arms a restart.
  mutating func record(_ values: [(table: String, column: String, value: String)]) throws {
    let stored = try meta(.bucketScope)
    var scope = try BucketScope(stored)
    var isReplaced = false
    for (table, column, value) in values where !value.isEmpty {
      if scope.record(value, table, column) { isReplaced = true }
    }
    if scope.value != stored ?? .object([:]) { try setMeta(.bucketScope, scope.value) }
    if isReplaced { try restartForScope() }
  }

  /// Arms a restart, and lets no answer count that is out.
  mutating func restartForScope() throws {
    try armRestart()
    try setMeta(.scopeGeneration, .int((try metaNumber(.scopeGeneration) ?? 0) &+ 1))
  }
}
