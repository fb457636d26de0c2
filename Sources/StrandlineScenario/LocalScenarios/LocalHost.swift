internal import FoundationEssentials
internal import StrandlineSync

/// An application that knows nothing but what the steps of a local scenario tell it: it reads their words and calls the client.
///
/// What a client's types cannot even say, an unknown operation or a conflict mode that there is none of, is refused here with the code that
/// the catalogue has for it.
struct LocalHost {
  private var client: SyncClient?
  private var attachments: ScratchDirectory?

  mutating func close() async {
    await client?.dispose()
    client = nil
    attachments?.remove()
    attachments = nil
  }

  mutating func perform(_ operation: LocalOperation, _ step: MessageMember) async throws -> LocalAnswer {
    if operation == .create {
      try await create(step)
      return .done
    }
    guard let client else { throw SyncError(.engineUnavailable, "no client has been created") }
    switch operation {
    // Made above.
    case .create: return .done
    case .attachmentPut: return try await Self.perform(.put, step, client)
    case .attachmentPatch: return try await Self.perform(.patch, step, client)
    case .attachmentPending: return try await Self.perform(.pending, step, client)
    case .attachmentFailNext: return try await Self.perform(.failNext, step, client)
    case .attachmentStatus: return try await Self.perform(.status, step, client)
    case .attachmentRetry: return try await Self.perform(.retry, step, client)
    case .attachmentCancel: return try await Self.perform(.cancel, step, client)
    case .attachmentRemove: return try await Self.perform(.remove, step, client)
    case .apply:
      try await apply(step, client)
      return .done
    case .applyWhere:
      try await applyWhere(step, client)
      return .done
    case .query: return try await query(step, client)
    case .outboxDepth: return .depth(try await client.outboxDepth())
    case .rejections:
      let all = try step.present("include_dismissed")?.flag() ?? false
      return .count(try await client.rejections(includeDismissed: all).count)
    case .checkpoint: return .cursor(try await client.checkpoint().cursor)
    case .seedCheckpoint:
      try await client.seedCheckpoint(try step.required("cursor").text())
      return .done
    case .setBucket:
      try await client.setBucket(try Self.texts(step.required("params")))
      return .done
    case .sync:
      try await client.sync()
      return .done
    }
  }

  // MARK: Operations

  private mutating func create(_ step: MessageMember) async throws {
    await close()
    let named = try step.required("tables")
    var tables: [String: TableConfiguration] = [:]
    for name in try named.object().keys { tables[name] = try LocalTable.configuration(named.required(name)) }
    var configuration = SyncConfiguration(tables: tables, remote: AcceptingRemote())
    if tables.values.contains(where: { !$0.attachments.isEmpty }) {
      let directory = try ScratchDirectory()
      attachments = directory
      configuration.attachmentRoot = directory.path
    }
    client = try await ScenarioClient.open(configuration)
  }

  private func apply(_ step: MessageMember, _ client: SyncClient) async throws {
    try await client.apply(
      try Self.operation(step, default: .insert), to: try step.present("table")?.text() ?? "",
      pk: try step.present("pk")?.text() ?? "", columns: try step.present("columns")?.object() ?? [:],
      mutationID: try step.present("mutation_id")?.text(), transforms: try Self.transforms(step),
      precondition: try step.present("precondition")?.object())
  }

  private func applyWhere(_ step: MessageMember, _ client: SyncClient) async throws {
    let plan = try Self.plan(["filters": step.present("filters")?.value ?? []])
    try await client.applyWhere(
      try Self.operation(step, default: .update), in: try step.present("table")?.text() ?? "", filters: plan.filters,
      columns: try step.present("columns")?.object() ?? [:], transforms: try Self.transforms(step),
      precondition: try step.present("precondition")?.object())
  }

  private func query(_ step: MessageMember, _ client: SyncClient) async throws -> LocalAnswer {
    let table = try step.present("table")?.text() ?? ""
    let json = step.present("plan")
    let plan = try Self.plan(json?.value ?? [:])
    let answer = try await client.query(
      table, plan, includeDeleted: try json?.present("includeDeleted")?.flag() ?? false)
    return .rows(answer.rows, isList: plan.cardinality == .many)
  }

  // MARK: Words

  private static func operation(
    _ step: MessageMember, default: MutationOperation
  ) throws -> MutationOperation {
    guard let word = try step.present("mutation_op")?.text() else { return `default` }
    guard let operation = MutationOperation(rawValue: word) else {
      throw SyncError(.unknownOperation, "\"\(word)\" is no operation; there are insert, update and delete")
    }
    return operation
  }

  private static func transforms(_ step: MessageMember) throws -> [String: Value]? {
    guard let transforms = step.present("transforms") else { return nil }
    guard case .object(let columns) = transforms.value else {
      throw SyncError(.localConstraint, "transforms are an object, by column")
    }
    return columns
  }

  private static func plan(_ json: Value) throws -> QueryPlan {
    do throws(StoreError) { return try QueryPlan(json: json) } catch {
      throw SyncError(SyncErrorCode(rawValue: error.code) ?? .json, "\(error)")
    }
  }

  /// Bucket values by column.
  private static func texts(_ params: MessageMember) throws -> [String: String] {
    guard case .object(let members) = params.value else { throw SyncError(.json, "bucket values are an object") }
    var texts: [String: String] = [:]
    for (column, value) in members {
      guard case .string(let text) = value else { throw SyncError(.json, "the value of bucket \(column) is no text") }
      texts[column] = text
    }
    return texts
  }
}
