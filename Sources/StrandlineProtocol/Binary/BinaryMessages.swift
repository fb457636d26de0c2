// The four messages in their binary form. Depths are those of the same place in JSON, so that both forms take the same values.

extension PullRequest: BinaryContent {
  static var kind: BinaryKind { .pullRequest }

  func write(to writer: inout BinaryWriter) {
    writer.optional(clientID) { $0.text($1) }
    writer.optional(schemaVersion) { $0.integer($1) }
    writer.text(cursor)
    writer.optional(limit) { $0.integer($1) }
    writer.list(buckets) { writer, bucket in
      writer.name(bucket.table)
      writer.members(bucket.params)
    }
  }

  init(from reader: inout BinaryReader) throws(MessageDefect) {
    clientID = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
    schemaVersion = try reader.optional { (reader) throws(MessageDefect) in try reader.integer() }
    cursor = try reader.text()
    limit = try reader.optional { (reader) throws(MessageDefect) in try reader.integer() }
    buckets = try reader.list(elementByteCountMin: 2) { (reader) throws(MessageDefect) in
      Bucket(table: try reader.name(), params: try reader.members(depth: 4))
    }
  }
}

extension PullAnswer: BinaryContent {
  static var kind: BinaryKind { .pullAnswer }

  func write(to writer: inout BinaryWriter) {
    writer.text(cursor)
    writer.flag(hasMore)
    writer.optional(signal) { $0.text($1) }
    writer.list(rows) { writer, entry in
      writer.name(entry.table)
      writer.text(entry.pk)
      writer.number(entry.seq)
      writer.flag(entry.isDeleted)
      writer.members(entry.row)
    }
    writer.list(tombstones) { writer, entry in
      writer.name(entry.table)
      writer.text(entry.pk)
      writer.number(entry.seq)
      writer.optional(entry.deletedAt) { $0.text($1) }
    }
    writer.list(conflicts) { writer, entry in
      writer.name(entry.table)
      writer.text(entry.pk)
      writer.name(entry.column)
      writer.value(entry.loserValue)
      writer.text(entry.winnerMutationID)
      writer.text(entry.conflictMode)
      writer.optional(entry.winnerSeq) { $0.number($1) }
    }
  }

  init(from reader: inout BinaryReader) throws(MessageDefect) {
    cursor = try reader.text()
    hasMore = try reader.flag()
    signal = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
    rows = try reader.list(elementByteCountMin: 6) { (reader) throws(MessageDefect) in
      let table = try reader.name()
      let pk = try reader.text()
      let seq = try reader.number()
      let isDeleted = try reader.flag()
      return RowEntry(table: table, pk: pk, row: try reader.members(depth: 4), seq: seq, isDeleted: isDeleted)
    }
    tombstones = try reader.list(elementByteCountMin: 5) { (reader) throws(MessageDefect) in
      let table = try reader.name()
      let pk = try reader.text()
      let seq = try reader.number()
      let deletedAt = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
      return Tombstone(table: table, pk: pk, seq: seq, deletedAt: deletedAt)
    }
    conflicts = try reader.list(elementByteCountMin: 7) { (reader) throws(MessageDefect) in
      let table = try reader.name()
      let pk = try reader.text()
      let column = try reader.name()
      let loserValue = try reader.value(depth: 3)
      let winner = try reader.text()
      let mode = try reader.text()
      let winnerSeq = try reader.optional { (reader) throws(MessageDefect) in try reader.number() }
      return Conflict(
        table: table, pk: pk, column: column, loserValue: loserValue, winnerMutationID: winner, conflictMode: mode,
        winnerSeq: winnerSeq)
    }
  }
}

extension PushRequest: BinaryContent {
  static var kind: BinaryKind { .pushRequest }

  func write(to writer: inout BinaryWriter) {
    writer.optional(clientID) { $0.text($1) }
    writer.optional(schemaVersion) { $0.integer($1) }
    writer.optional(lastMutationID) { $0.text($1) }
    writer.flag(isAtomic)
    writer.list(mutations) { writer, mutation in
      writer.text(mutation.id)
      writer.name(mutation.table)
      writer.text(mutation.pk)
      writer.name(mutation.operation)
      writer.members(mutation.columns)
      writer.optional(mutation.precondition) { $0.members($1) }
      writer.optional(mutation.hlc) { $0.text($1) }
      // As in JSON, an empty map counts as none.
      writer.optional(mutation.transforms.flatMap { $0.isEmpty ? nil : $0 }) { $0.members($1) }
    }
  }

  init(from reader: inout BinaryReader) throws(MessageDefect) {
    clientID = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
    schemaVersion = try reader.optional { (reader) throws(MessageDefect) in try reader.integer() }
    lastMutationID = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
    isAtomic = try reader.flag()
    mutations = try reader.list(elementByteCountMin: 8) { (reader) throws(MessageDefect) in
      var mutation = Mutation(
        id: try reader.text(), table: try reader.name(), pk: try reader.text(), operation: try reader.name())
      mutation.columns = try reader.members(depth: 5)
      mutation.precondition = try reader.optional { (reader) throws(MessageDefect) in try reader.members(depth: 5) }
      mutation.hlc = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
      mutation.transforms = try reader.optional { (reader) throws(MessageDefect) in try reader.members(depth: 5) }
      return mutation
    }
  }
}

extension PushAnswer: BinaryContent {
  static var kind: BinaryKind { .pushAnswer }

  func write(to writer: inout BinaryWriter) {
    writer.optional(verdicts) { writer, verdicts in
      writer.list(verdicts) { writer, verdict in
        writer.text(verdict.mutationID)
        writer.name(verdict.kind)
        writer.optional(verdict.reason) { $0.name($1) }
        writer.optional(verdict.serverRow) { $0.members($1) }
      }
    }
    writer.optional(abort) { writer, abort in
      writer.name(abort.outcome)
      writer.text(abort.offenderMutationID)
      writer.name(abort.reason)
      writer.optional(abort.serverRow) { $0.members($1) }
    }
    writer.optional(signal) { $0.text($1) }
  }

  init(from reader: inout BinaryReader) throws(MessageDefect) {
    self.init(verdicts: [])
    verdicts = try reader.optional { (reader) throws(MessageDefect) in
      try reader.list(elementByteCountMin: 4) { (reader) throws(MessageDefect) in
        let id = try reader.text()
        let kind = try reader.name()
        let reason = try reader.optional { (reader) throws(MessageDefect) in try reader.name() }
        let row = try reader.optional { (reader) throws(MessageDefect) in try reader.members(depth: 4) }
        return Verdict(mutationID: id, kind: kind, reason: reason, serverRow: row)
      }
    }
    abort = try reader.optional { (reader) throws(MessageDefect) in
      let outcome = try reader.name()
      let offender = try reader.text()
      let reason = try reader.name()
      let row = try reader.optional { (reader) throws(MessageDefect) in try reader.members(depth: 3) }
      return Abort(outcome: outcome, offenderMutationID: offender, reason: reason, serverRow: row)
    }
    signal = try reader.optional { (reader) throws(MessageDefect) in try reader.text() }
  }
}
