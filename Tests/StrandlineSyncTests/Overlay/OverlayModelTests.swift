import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// What one row and its queue have to be, kept the dull way: every new base lays the whole queue over it again.
private struct RowModel {
  struct Entry {
    var id: String
    var operation: MutationOperation
    var columns: [String: Value]
    var step: Int64
    var preImage: [String: Value]?
  }

  var row: [String: Value]?
  var hasShadow = false
  var queue: [Entry] = []

  mutating func write(_ entry: Entry) {
    var entry = entry
    entry.preImage = row
    queue.append(entry)
    // A write made here shows, shadow or not.
    lay(entry, overShadow: true)
  }

  private mutating func lay(_ entry: Entry, overShadow: Bool) {
    switch entry.operation {
    case .delete:
      row = nil
      hasShadow = true
    case .insert, .update:
      if hasShadow && !overShadow { return }
      var columns = (row ?? [:]).merging(entry.columns) { _, new in new }
      if entry.operation == .update {
        let before: Int64 = if case .int(let number)? = columns["n"] { number } else { 0 }
        columns["n"] = .int(before + entry.step)
      }
      row = columns
    }
  }

  /// The server's row, or that it is gone.
  mutating func rebase(_ columns: [String: Value]?, shadow: Bool) {
    row = columns
    hasShadow = shadow
    for place in queue.indices {
      queue[place].preImage = row
      lay(queue[place], overShadow: false)
    }
  }
}

struct OverlayModelTests {
  private static let pks = ["a", "b", "c"]

  @Test(arguments: 1...24)
  func `rows and pre-images are what laying the queue over the newest base makes of them`(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed &+ SoakScale.seed)
    let test = try await TestClient.open()
    var models = Dictionary(uniqueKeysWithValues: Self.pks.map { ($0, RowModel()) })
    for step in 1...60 {
      let pk = Self.pks.randomElement(using: &generator) ?? "a"
      var model = try #require(models[pk])
      let columns: [String: Value] = [["x", "y"].randomElement(using: &generator) ?? "x": .int(Int64(step))]
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...4:
        let operation: MutationOperation =
          model.row == nil ? .insert : Int.random(in: 0..<4, using: &generator) == 0 ? .delete : .update
        let entry = RowModel.Entry(
          id: "m\(step)", operation: operation, columns: operation == .delete ? [:] : columns,
          step: Int64.random(in: 1...9, using: &generator))
        try await test.client.apply(
          operation, to: "todos", pk: pk, columns: entry.columns, mutationID: entry.id,
          transforms: operation == .update ? ["n": ["op": "increment", "by": .int(entry.step)]] : nil)
        model.write(entry)
      case 5...6:
        let row: [String: Value] = ["x": .int(Int64(-step)), "n": 100]
        test.remote.script(pulls: [.answer(.page("\(step)", [pk: row]))])
        try await test.client.pullOnce()
        model.rebase(row, shadow: false)
      case 7:
        test.remote.script(pulls: [.answer(.page("\(step)", gone: [pk]))])
        try await test.client.pullOnce()
        model.rebase(nil, shadow: true)
      default:
        try await push(test, &models, &generator, step)
        continue
      }
      models[pk] = model
      try await compare(test, models, "seed \(seed), step \(step)")
    }
  }

  /// Pushes everything; each row's writes are rejected, so that its base is the server's row, or all applied.
  private func push(
    _ test: TestClient, _ models: inout [String: RowModel], _ generator: inout SeededGenerator, _ step: Int
  ) async throws {
    let refused = Self.pks.randomElement(using: &generator)
    let row: [String: Value] = ["y": .int(Int64(step)), "n": 7]
    let entries = try await test.client.stateRows(of: StateTable.outbox).map { try OutboxEntry($0) }
    if entries.isEmpty { return }
    test.remote.script(pushes: [
      .answer(
        PushAnswer(
          verdicts: entries.map {
            $0.name.pk == refused ? .rejected($0.mutationID, .constraint, serverRow: row) : .applied($0.mutationID)
          }))
    ])
    try await test.client.pushOnce()
    for pk in Self.pks where models[pk]?.queue.isEmpty == false {
      models[pk]?.queue = []
      if pk == refused { models[pk]?.rebase(row, shadow: false) }
    }
  }

  private func compare(_ test: TestClient, _ models: [String: RowModel], _ place: String) async throws {
    let shadows = Set(try await test.client.shadows().map(\.pk))
    let entries = try await test.client.stateRows(of: StateTable.outbox).map { try OutboxEntry($0) }
    for (pk, model) in models {
      #expect(try await test.columns(pk) == model.row, "\(place), row \(pk)")
      #expect(shadows.contains(pk) == model.hasShadow, "\(place), shadow \(pk)")
      let queued = entries.filter { $0.name.pk == pk }
      #expect(queued.map(\.mutationID) == model.queue.map(\.id), "\(place)")
      #expect(queued.map(\.preImage) == model.queue.map(\.preImage), "\(place), pre-images of \(pk)")
    }
    #expect(try await test.client.outboxDepth() == entries.count)
  }
}
