import Strandline
import StrandlineLog
import StrandlineTestSupport

/// Drives a store through a workload and keeps the books beside it. Used by one thread.
final class StoreRun {
  let workload: StoreWorkload
  private(set) var model = StoreModel()
  private(set) var store: Store?
  /// Complete copies, and the state each holds.
  private(set) var copies: [String: StoreModel.State] = [:]
  private(set) var complaints: [String] = []
  private(set) var operation = -1
  private let fileSystem: any FileSystem

  init(_ workload: StoreWorkload, on fileSystem: any FileSystem) {
    self.workload = workload
    self.fileSystem = fileSystem
  }

  func run() throws {
    try reopen()
    for index in workload.operations.indices { try perform(index) }
    try store?.close()
    model.noteSynced()
  }

  func perform(_ index: Int) throws {
    operation = index
    if case .abandonAndReopen = workload.operations[index] { store = nil }
    if store == nil { try reopen() }
    guard let store else { return }
    switch workload.operations[index] {
    case .write(let rows, let durability): try write(rows, durability, store)
    case .appendEvent(let stream): try appendEvent(stream, store)
    case .refusedWrite: try refusedWrite(store)
    case .sync:
      try store.sync()
      model.noteSynced()
    case .compact:
      try store.compact()
      model.noteSynced()
    case .reset(let keepCopy): try reset(store, keepCopy)
    case .backup(let path):
      try store.backup(to: path)
      model.noteSynced()
      copies[path] = model.current
    case .closeAndReopen:
      self.store = nil
      try store.close()
      model.noteSynced()
      try reopen()
    case .abandonAndReopen: break
    }
    compare()
  }

  /// Takes back what an operation that failed had announced, unless its outcome is open.
  func settle(inDoubt: Bool) {
    if !inDoubt, model.states.count - 1 > model.acknowledged { model.refuse() }
  }

  /// Lets the store go without close.
  func abandon() { store = nil }

  private func write(
    _ rows: [(table: String, id: Int64, title: String?)], _ durability: Durability, _ store: Store
  ) throws {
    var changes = false
    model.attempt { state in
      for row in rows {
        let before = state[row.table]?[row.id]
        state[row.table, default: [:]][row.id] = row.title.map { ["id": .int(row.id), "title": .string($0)] }
        if row.title != nil || before != nil { changes = true }
      }
    }
    if !changes { model.refuse() }
    try store.write(durability: durability) { (tx) throws(StoreError) in
      for row in rows {
        if let title = row.title {
          try tx.put(["id": .int(row.id), "title": .string(title)], into: row.table)
        } else {
          try tx.delete(.int(row.id), from: row.table)
        }
      }
    }
    if changes { model.acknowledge(durability) }
  }

  private func appendEvent(_ stream: String, _ store: Store) throws {
    let number = Int64(model.current[stream]?.count ?? 0) + 1
    model.attempt { $0[stream, default: [:]][number] = ["number": .int(number)] }
    let version = try store.write { (tx) throws(StoreError) in
      try tx.append(["number": .int(number)], type: "counted", to: stream)
    }
    if version != UInt64(number) { complaints.append("event \(number) of \(stream) was given \(version)") }
    model.acknowledge(.synced)
  }

  private struct Refused: Error {}

  private func refusedWrite(_ store: Store) throws {
    do throws(WriteError<any Error>) {
      try store.write { tx in
        for id in Int64(0)..<5 { try tx.put(["id": .int(id), "title": "must not be seen"], into: "todos") }
        throw Refused()
      }
      complaints.append("a closure that throws did not fail its write")
    } catch {
      guard case .body(is Refused) = error else { throw error }
    }
  }

  private func reset(_ store: Store, _ keepCopy: Bool) throws {
    let before = model.current
    model.attempt { $0 = [:] }
    let report = try store.reset(keepCopy: keepCopy)
    if let copy = report.keptCopy { copies[copy] = before }
    model.acknowledge(.synced)
  }

  private func reopen() throws {
    let seed = workload.seed &* 31 &+ UInt64(operation + 1)
    store = try StoreWorkload.open(fileSystem, seed: seed)
    // Open syncs what it publishes.
    model.noteSynced()
    compare()
  }

  /// Whether the store shows what was acknowledged last.
  func compare() {
    guard let store else { return }
    do {
      let found = try StoreWorkload.state(of: store)
      if model.place(of: found, afterPowerLoss: false) != model.states.count - 1 {
        complaints.append("operation \(operation): what is seen is not what was written last")
      }
    } catch StoreError.ioFailed {
      // A disk that fails may fail a read; the next one tells.
    } catch {
      complaints.append("operation \(operation): \(error)")
    }
  }
}
