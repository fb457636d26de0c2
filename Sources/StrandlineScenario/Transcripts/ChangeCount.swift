@_spi(Scenario) internal import StrandlineServer

/// How many numbers the steps of a transcript draw before one of them.
///
/// One for each write of the owner and for each mutation that was brought and applied, each id once; two for one that moves a row between
/// buckets.
struct ChangeCount {
  private(set) var total: Int64 = 0

  /// Where a row is. Nil for a row that no step and no start state has named.
  private enum Place: Equatable {
    case deleted
    /// In a bucket, or in none.
    case live(bucket: String?)
  }

  private let tables: [String: TranscriptContext.Table]
  private var places: [[String]: Place] = [:]

  init(_ transcript: Transcript, upTo end: Int, start: [ServerStartState.Row]) {
    tables = transcript.context.tables
    for row in start { places[[row.table, row.pk]] = .live(bucket: bucket(row.table, row.columns)) }
    let applied = Set(transcript.steps.flatMap(Self.applied))
    var counted: Set<String> = []
    for step in transcript.steps[..<end] {
      var brought: (json: Value, applied: Set<String>)?
      switch step.action {
      case .owner(let change):
        write(change.table, change.pk, change.columns, isDelete: change.operation == .delete)
      case .rpc(.push, let request, _): brought = (request, Set(Self.applied(step)))
      case .lostAnswer(.push, let request): brought = (request, applied)
      default: break
      }
      guard let brought, let push = try? PushRequest(json: brought.json) else { continue }
      for mutation in push.mutations where brought.applied.contains(mutation.id) {
        guard counted.insert(mutation.id).inserted else { continue }
        let isDelete = mutation.operation == MutationOperation.delete.rawValue
        write(mutation.table, mutation.pk, mutation.columns, isDelete: isDelete)
      }
    }
  }

  /// The mutations that the answer of a step calls applied.
  private static func applied(_ step: TranscriptStep) -> [String] {
    guard let response = step.response(to: .push), let answer = try? PushAnswer(json: response.value) else { return [] }
    return (answer.verdicts ?? []).filter { $0.kind == VerdictKind.applied.rawValue }.map(\.mutationID)
  }

  private mutating func write(_ table: String, _ pk: String, _ columns: [String: Value], isDelete: Bool) {
    let before = places[[table, pk]]
    if isDelete {
      // A row that is known to be gone is not deleted again.
      if before != .deleted { total += 1 }
      places[[table, pk]] = .deleted
      return
    }
    total += 1
    guard let column = tables[table]?.bucketColumn, columns[column] != nil else {
      if case .live? = before { return }
      places[[table, pk]] = .live(bucket: nil)
      return
    }
    let after = Place.live(bucket: bucket(table, columns))
    if case .live? = before, before != after { total += 1 }
    places[[table, pk]] = after
  }

  private func bucket(_ table: String, _ columns: [String: Value]) -> String? {
    tables[table]?.bucketColumn.flatMap { columns[$0]?.wireText }
  }
}
