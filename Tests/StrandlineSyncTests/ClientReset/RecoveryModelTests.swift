import StrandlineProtocol
import StrandlineTestSupport
import Testing

@testable @_spi(Scenario) import StrandlineSync

/// Recovery against a dull model that works out every row anew, from the decisions so far, at every entry.
struct RecoveryModelTests {
  /// A quadratic walk: no state but the decisions.
  private struct Model {
    struct RowState {
      var image: [String: Value]?
      var isRemoved = false
      var isShadowed = false
      var hasLostInsert = false
    }

    let rig: RecoveryRig
    var decisions: [RecoveryDecision?]
    let localOnly: Set<String> = ["draft", "pin"]

    init(_ rig: RecoveryRig) {
      self.rig = rig
      decisions = Array(repeating: nil, count: rig.queue.count)
      var place = 0
      while place < rig.queue.count {
        var end = place + 1
        if let batch = rig.queue[place].batchID {
          while end < rig.queue.count, rig.queue[end].batchID == batch { end += 1 }
        }
        let before = decisions
        for member in place..<end {
          decisions[member] = decide(member)
          guard end - place > 1 || rig.queue[place].batchID != nil, case .drop(let drop)? = decisions[member] else {
            continue
          }
          decisions = before
          for other in place..<end {
            decisions[other] = .drop(
              other == member ? drop : RecoveryDrop(.batch, culprit: rig.queue[member].mutationID))
          }
          break
        }
        place = end
      }
    }

    /// The row in front of an entry.
    func state(of name: RowName, before place: Int) -> RowState {
      let key = "\(name.table)/\(name.pk)"
      var state = RowState(image: RecoveryRig.tables[name.table] == nil ? nil : rig.rows[key])
      for earlier in 0..<place where rig.queue[earlier].name == name {
        let entry = rig.queue[earlier]
        switch decisions[earlier] {
        case .keep(let isMerged)?:
          switch entry.operation {
          case .insert where !isMerged:
            state.image = entry.columns
            state.hasLostInsert = false
          case .insert:
            let key = RecoveryRig.tables[name.table]?.key ?? []
            for (column, value) in entry.columns where !key.contains(column) { state.image?[column] = value }
          case .update:
            for (column, value) in entry.columns { state.image?[column] = value }
            for (column, json) in entry.transforms ?? [:] {
              guard let transform = try? Transform(json, for: .client) else { continue }
              if let value = transform.applied(to: state.image?[column]) { state.image?[column] = value }
            }
          case .delete:
            state.image = nil
            state.isRemoved = true
            state.isShadowed = true
          }
        case .defer?: if entry.operation == .delete { state.isShadowed = true }
        case .drop?: if entry.operation == .insert, state.image == nil { state.hasLostInsert = true }
        default: break
        }
      }
      return state
    }

    private func scope(_ name: RowName) -> Bool {
      guard let column = RecoveryRig.tables[name.table]?.bucket.column else { return true }
      guard let first = rig.queue.first(where: { $0.name == name }) else { return false }
      return first.preImage?[column] == .string("red")
    }

    /// Whether an entry is about its row at all.
    private func asks(_ entry: OutboxEntry) -> Bool {
      !(entry.operation == .update && (entry.transforms ?? [:]).isEmpty
        && entry.columns.keys.allSatisfy(localOnly.contains))
    }

    private mutating func decide(_ place: Int) -> RecoveryDecision {
      let entry = rig.queue[place]
      guard let table = RecoveryRig.tables[entry.name.table] else { return .defer(.tableNotConfigured) }
      if table.syncMode == .pullOnly { return .drop(RecoveryDrop(.tableIsPullOnly)) }
      if !asks(entry) { return .settle(isWithdrawn: false) }
      let isBuried = rig.gone.contains("\(entry.name.table)/\(entry.name.pk)")
      var row = state(of: entry.name, before: place)
      if entry.operation == .insert, row.isShadowed {
        for earlier in 0..<place where rig.queue[earlier].name == entry.name {
          switch decisions[earlier] {
          case .keep?, .defer?: decisions[earlier] = .settle(isWithdrawn: true)
          default: break
          }
        }
        row = state(of: entry.name, before: place)
      }
      switch (entry.operation, row.image) {
      case (.insert, .some):
        let left = entry.columns.keys.filter { !table.key.contains($0) && !localOnly.contains($0) }
        return left.isEmpty ? .settle(isWithdrawn: false) : .keep(isMerged: true)
      case (.insert, nil): return isBuried ? .drop(RecoveryDrop(.deletedOnServer)) : .keep(isMerged: false)
      case (.update, .some(let image)):
        for column in (entry.transforms ?? [:]).keys.sorted() {
          switch image[column] {
          case nil, .null?, .int?: continue
          case .array? where column == "tags": continue
          default: return .drop(RecoveryDrop(.typeChangedOnServer, column: column))
          }
        }
        return .keep(isMerged: false)
      case (.delete, .some): return .keep(isMerged: false)
      case (.update, nil):
        if row.isRemoved { return .drop(RecoveryDrop(.deletedLocally)) }
        if isBuried { return .drop(RecoveryDrop(.deletedOnServer)) }
        return row.hasLostInsert || scope(entry.name) ? .drop(RecoveryDrop(.missingOnServer)) : .defer(.outOfScope)
      case (.delete, nil):
        if row.isRemoved || isBuried || row.hasLostInsert || scope(entry.name) { return .settle(isWithdrawn: false) }
        return .defer(.outOfScope)
      }
    }
  }

  private static func rig(_ generator: inout SeededGenerator) -> RecoveryRig {
    func pick<Element>(_ choices: [Element]) -> Element {
      choices[Int.random(in: 0..<choices.count, using: &generator)]
    }
    let keys = ["a", "b", "c"]
    var rig = RecoveryRig()
    for table in ["todos", "teams", "read"] {
      for key in keys {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: rig.gone.insert("\(table)/\(key)")
        case 1, 2:
          var columns: [String: Value] = ["id": .string(key)]
          if Bool.random(using: &generator) { columns["x"] = .int(Int64.random(in: 0..<9, using: &generator)) }
          if Bool.random(using: &generator) { columns["n"] = pick([.int(5), .null, "text"]) }
          if Bool.random(using: &generator) { columns["tags"] = pick([["s"], "no array", .null]) }
          rig.rows["\(table)/\(key)"] = columns
        default: break
        }
      }
    }
    let count = Int.random(in: 1...14, using: &generator)
    var batch: String?
    for number in 0..<count {
      if Int.random(in: 0..<3, using: &generator) == 0 {
        batch = Bool.random(using: &generator) ? "b\(number)" : nil
      }
      let table = pick(["todos", "todos", "teams", "teams", "read", "old"])
      var columns: [String: Value] = [:]
      var transforms: [String: Value]?
      let operation = pick([MutationOperation.insert, .update, .update, .delete])
      if operation != .delete {
        if Bool.random(using: &generator) { columns["x"] = .int(Int64.random(in: 0..<9, using: &generator)) }
        if Int.random(in: 0..<4, using: &generator) == 0 { columns["draft"] = 1 }
        if operation == .insert, Bool.random(using: &generator) { columns["id"] = "k" }
        if operation == .update, Int.random(in: 0..<3, using: &generator) == 0 {
          transforms = ["n": ["op": "increment", "by": 2]]
        }
        if operation == .update, Int.random(in: 0..<4, using: &generator) == 0 {
          transforms = (transforms ?? [:]).merging(["tags": ["op": "arrayUnion", "values": ["c"]]]) { _, new in new }
        }
      }
      rig.add(
        operation, "\(table)/\(pick(keys))", columns, transforms: transforms,
        before: pick([nil, ["team": "red"], ["team": "blue"]]), batch: batch)
    }
    return rig
  }

  @Test func `recovery decides as the dull model does, and loses and makes up nothing`() throws {
    var generator = SeededGenerator(seed: 11 &+ SoakScale.seed)
    // A hundred thousand with a scale of 20.
    for round in 0..<5_000 * SoakScale.factor {
      let rig = Self.rig(&generator)
      let result = try rig.run()
      let model = Model(rig)
      #expect(result.decisions == model.decisions, "round \(round): \(rig.queue)")
      if result.decisions != model.decisions { return }
      Self.checkInvariants(result, rig, model, round)
    }
  }

  private static func checkInvariants(_ result: Recovery, _ rig: RecoveryRig, _ model: Model, _ round: Int) {
    var report = ClientResetReport(
      attemptID: "", demand: ResetGuardTests.anyDemand, configuredMode: .recover, effectiveMode: .recover, startedAt: 0)
    report.count(result.entries)
    let counts = report.entries
    #expect(counts.pending == rig.queue.count)
    #expect(counts.pending == counts.kept + counts.settled + counts.dropped + counts.deferred + counts.discarded)
    #expect(report.entriesByTable.values.reduce(0) { $0 + $1.pending } == rig.queue.count)
    var isDeleted: Set<RowName> = []
    for (place, recovered) in result.entries.enumerated() {
      let (entry, original) = (recovered.entry, recovered.original)
      #expect(entry.mutationID == original.mutationID && entry.seq == original.seq && entry.batchID == original.batchID)
      switch recovered.decision {
      case .keep:
        #expect(entry.preImage == model.state(of: entry.name, before: place).image, "round \(round), entry \(place)")
        if entry.operation == .delete { isDeleted.insert(entry.name) }
        if entry.operation == .insert {
          #expect(!isDeleted.contains(entry.name), "round \(round): a delete, then an insert on the wire")
        }
      case .defer: if entry.operation == .delete { isDeleted.insert(entry.name) }
      default: break
      }
    }
    for (name, row) in result.rows where RecoveryRig.tables[name.table] != nil {
      let last = model.state(of: name, before: rig.queue.count)
      #expect(row.image?.columns == last.image, "round \(round), row \(name)")
      #expect(row.isShadowed == last.isShadowed, "round \(round), row \(name)")
    }
  }
}
