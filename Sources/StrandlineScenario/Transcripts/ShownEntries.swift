@_spi(Scenario) internal import StrandlineServer

/// The rows and tombstones that the answers of a transcript show, each once.
struct ShownEntries: Sendable {
  private(set) var rows: [ServerStartState.Row] = []
  private(set) var tombstones: [ServerTombstone] = []

  init(_ transcript: Transcript) {
    var numbers: (rows: Set<[String]>, tombstones: Set<[String]>) = ([], [])
    for step in transcript.steps {
      guard case .rpc(.pull, let requestJSON, let response) = step.action,
        let answer = try? PullAnswer(json: response)
      else { continue }
      let request = try? PullRequest(json: requestJSON)
      for entry in answer.rows where !entry.isDeleted {
        guard let number = Int64(entry.seq), numbers.rows.insert([entry.table, entry.pk, entry.seq]).inserted else {
          continue
        }
        rows.append(ServerStartState.Row(table: entry.table, pk: entry.pk, columns: entry.row, number: number))
      }
      for entry in answer.tombstones {
        guard let number = Int64(entry.seq), numbers.tombstones.insert([entry.table, entry.pk, entry.seq]).inserted
        else { continue }
        // The wire does not say which value the row left; only one that was asked for is answered.
        let column = transcript.context.tables[entry.table]?.bucketColumn
        let bucket = column.flatMap { column in
          request?.buckets.first { $0.table == entry.table }?.params[column]?.wireText
        }
        tombstones.append(
          ServerTombstone(
            id: RowID(table: entry.table, pk: entry.pk), bucket: bucket ?? "", number: number,
            deletedAt: entry.deletedAt.flatMap { WireTime.milliseconds($0) } ?? 0))
      }
    }
  }
}
