/// The checks of a whole push, in their order, before any mutation. Each refuses everything and changes nothing.
struct PushChecks {
  let configuration: ServerConfiguration

  /// The first check: whether the client is too old for the tables that it writes to.
  func isTooOld(_ request: PushRequest) -> Bool {
    guard let version = request.schemaVersion else { return true }
    return version < configuration.schemaVersionMin(of: request.mutations.lazy.map(\.table))
  }

  /// The other checks.
  func check(_ request: PushRequest) throws(ErrorAnswer) -> [CheckedMutation] {
    let mutations = request.mutations
    let limit = configuration.limits.mutationCountMax
    if mutations.count > limit {
      throw ErrorAnswer(
        code: .batchTooLarge, message: "\(mutations.count) mutations; at most \(limit) are taken. Send fewer at once.")
    }
    if configuration.demandsAtomicPushes, !request.isAtomic {
      throw ErrorAnswer(code: .atomicRequired, message: "only atomic pushes are taken here. Send \"atomic\": true.")
    }
    for mutation in mutations where configuration.table(mutation.table) == nil {
      throw ErrorAnswer(code: .featureNotSupported, message: "there is no table \"\(mutation.table)\" here")
    }
    for mutation in mutations where configuration.table(mutation.table)?.isPullOnly == true {
      throw ErrorAnswer(
        code: .tableIsPullOnly, message: "table \"\(mutation.table)\" can be pulled and not be written to")
    }
    var checked: [CheckedMutation] = []
    checked.reserveCapacity(mutations.count)
    for (place, mutation) in mutations.enumerated() {
      do throws(MessageDefect) { checked.append(try self.checked(mutation)) } catch {
        let path = "batch.mutations[\(place)]" + (error.path.isEmpty ? "" : ".\(error.path)")
        throw ErrorAnswer(code: .invalidParameter, message: "\(path): \(error.reason)")
      }
    }
    return checked
  }

  private func checked(_ mutation: Mutation) throws(MessageDefect) -> CheckedMutation {
    guard (1...StorageLimits.mutationIDByteCountMax).contains(mutation.id.storedByteCount) else {
      throw MessageDefect(
        path: "mutation_id", reason: "a text of 1 to \(StorageLimits.mutationIDByteCountMax) bytes is wanted")
    }
    guard let operation = MutationOperation(rawValue: mutation.operation) else {
      throw MessageDefect(path: "op", reason: "\"\(mutation.operation)\" is none of insert, update and delete")
    }
    guard let table = configuration.table(mutation.table), let components = table.keyComponents(of: mutation.pk) else {
      throw MessageDefect(path: "pk", reason: "it is not the canonical text of a key of \"\(mutation.table)\"")
    }
    var transforms: [String: Transform] = [:]
    for (column, transform) in mutation.transforms ?? [:] {
      if mutation.columns[column] != nil {
        throw MessageDefect(path: "transforms.\(column)", reason: "the column stands in columns too")
      }
      do throws(MessageDefect) { transforms[column] = try Transform(transform, for: .server) } catch {
        throw MessageDefect(
          path: "transforms.\(column)" + (error.path.isEmpty ? "" : ".\(error.path)"), reason: error.reason)
      }
    }
    var stamp: HybridTimestamp?
    if table.conflictMode == .hlc, operation == .insert || (operation == .update && !mutation.columns.isEmpty) {
      guard let parsed = mutation.hlc.flatMap({ HybridTimestamp($0) }) else {
        throw MessageDefect(path: "hlc", reason: "a stamp <time>|<counter>|<node> is wanted")
      }
      stamp = parsed
    }
    return CheckedMutation(
      id: mutation.id, row: RowID(table: mutation.table, pk: mutation.pk), operation: operation,
      columns: mutation.columns, precondition: mutation.precondition ?? [:], transforms: transforms, stamp: stamp,
      keyComponents: components)
  }
}
