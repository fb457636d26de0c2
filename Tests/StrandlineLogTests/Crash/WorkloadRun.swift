import StrandlineTestSupport

@testable @_spi(Engine) import StrandlineLog

/// What was promised to the caller of a log so far, as counts of commits.
struct Promises: Sendable {
  /// Index of the operation that runs.
  var operation = -1
  /// Commits that may be there.
  var attempted = 0
  /// Commits that survive the end of the process.
  var survivesKill = 0
  /// Commits that survive power loss.
  var survivesPower = 0
  /// Commits behind which replay may begin: the anchor in force, and one being put in place.
  var anchors = [0]
  /// Copies that are complete, and the number of commits in each.
  var copies: [String: Int] = [:]
}

/// Drives a log through a workload and keeps the books: what was attempted, what was promised.
///
/// Used by one thread.
final class WorkloadRun {
  let workload: CrashWorkload
  let clock = ManualClock()
  private(set) var model = CommitModel()
  private(set) var log: Log?
  var promises = Promises()
  /// What operations answered that must not have.
  private(set) var complaints: [String] = []
  /// Stands in the trace where a process begins.
  static let reopenMark = "opening"
  /// Called with a line for the trace: the start of each operation, each acknowledgement.
  var mark: (String) -> Void = { _ in }

  private let fileSystem: any FileSystem
  private var generator: SeededGenerator
  private var layers: [LayerEntry] = []

  init(_ workload: CrashWorkload, on fileSystem: any FileSystem) {
    self.workload = workload
    self.fileSystem = fileSystem
    generator = SeededGenerator(seed: workload.seed ^ 0xC0FFEE)
  }

  /// Runs all operations. Stops at the first error.
  func run() throws {
    try reopen()
    for index in workload.operations.indices { try perform(index) }
    try log?.close()
    promises.survivesKill = model.count
    promises.survivesPower = model.count
  }

  /// Runs one operation, opening the log first where it is not open.
  func perform(_ index: Int) throws {
    promises.operation = index
    mark("\(index): \(workload.operations[index])")
    if case .abandonAndReopen = workload.operations[index] { log = nil }
    if log == nil { try reopen() }
    guard let log else { return }
    switch workload.operations[index] {
    case .append(let records, let isSynced): try append(records, isSynced, log)
    case .sync:
      try log.sync()
      acknowledge(synced: true)
    case .reset(let records, let keepsCopy, let hasBase): try reset(log, records, keepsCopy, hasBase)
    case .backup(let path):
      let report = try log.backup(to: path)
      promises.copies[path] = Int(report.position.sequence.rawValue)
      promises.survivesPower = max(promises.survivesPower, Int(report.position.sequence.rawValue))
    case .compact: try compact(log)
    case .readBack: try readBack(log)
    case .pause(let duration): clock.advance(by: duration)
    case .closeAndReopen(let spaceAhead):
      self.log = nil
      // Closed whatever it answers.
      try log.close()
      acknowledge(synced: true)
      try reopen(spaceAhead: spaceAhead)
    case .abandonAndReopen: break
    }
  }

  /// Appends a synced commit that is not of the workload.
  func appendOneMore(_ records: [[UInt8]]) throws {
    guard let log else { return }
    try append(records, true, log)
  }

  func close() throws {
    guard let log else { return }
    self.log = nil
    try log.close()
    acknowledge(synced: true)
  }

  /// Lets the log go without close.
  func abandon() { log = nil }

  /// Takes back what a poisoned log can no longer promise: commits that no sync has covered are in doubt.
  func doubtBuffered() { promises.survivesKill = min(promises.survivesKill, promises.survivesPower) }

  private func append(_ records: [[UInt8]], _ isSynced: Bool, _ log: Log) throws {
    model.append(records)
    promises.attempted = model.count
    let position = try attempting(log) { () throws(LogError) in
      try log.append(records, durability: isSynced ? .synced : .buffered)
    }
    if position.sequence.rawValue != UInt64(model.count) || position.epoch != model.epoch {
      complaints.append("commit \(model.count) was given \(position)")
    }
    acknowledge(synced: isSynced)
  }

  private func reset(_ log: Log, _ records: [[UInt8]], _ keepsCopy: Bool, _ hasBase: Bool) throws {
    let base = hasBase ? [try makeLayer(through: max(1, model.count))] : []
    model.reset(carrying: records)
    promises.attempted = model.count
    let report = try attempting(log) { () throws(LogError) in
      try log.reset(carrying: records, base: base, keepCopy: keepsCopy)
    }
    if report.epoch != model.epoch || report.position.sequence.rawValue != UInt64(model.count) {
      complaints.append("reset \(model.count) answered \(report)")
    }
    layers = base
    if let copy = report.keptCopy { promises.copies[copy] = model.count - 1 }
    acknowledge(synced: true)
  }

  /// Runs a call that adds the model's last commit. If it fails without a trace the model takes the commit back.
  private func attempting<Result>(
    _ log: Log, _ call: () throws(LogError) -> Result
  ) throws(LogError) -> Result {
    let wasPoisoned = log.status.poison != nil
    do throws(LogError) {
      return try call()
    } catch {
      // The failure that poisons leaves the outcome open; every other one promises that nothing was written.
      if case .poisoned = error, !wasPoisoned {
        mark("in doubt \(model.count)")
      } else {
        takeBack()
      }
      throw error
    }
  }

  private func takeBack() {
    model.truncate(to: model.count - 1)
    promises.attempted = model.count
  }

  private func compact(_ log: Log) throws {
    let anchor = log.status.durable
    let count = Int(anchor.sequence.rawValue)
    guard count > 0, anchor.epoch == model.epoch else { return }
    let layer = try makeLayer(through: count)
    promises.anchors.append(count)
    try log.publishRoot(layers: [layer], anchor: anchor, epoch: anchor.epoch)
    layers = [layer]
    promises.anchors = [count]
    promises.survivesPower = max(promises.survivesPower, count)
    mark("ack root \(count)")
    try log.releaseSegments(before: anchor.sequence)
  }

  /// What the layer above does: write, sync, rename, sync the directory.
  private func makeLayer(through count: Int) throws -> LayerEntry {
    let layer = LayerEntry(
      id: generator.next(), level: 0, firstSequence: SequenceNumber(1), lastSequence: SequenceNumber(UInt64(count)),
      byteCount: 100, footerTag: 1, salt: 2)
    let path = CrashWorkload.storePath + "/" + layer.fileName
    let file = try fileSystem.openRetrying(path + ".tmp", .create)
    do {
      let bytes = generator.bytes(100)
      try bytes.withUnsafeBytes { try fileSystem.writeAll(file, $0, at: 0) }
      try fileSystem.sync(file)
    } catch {
      try? fileSystem.close(file)
      throw error
    }
    try fileSystem.close(file)
    try fileSystem.rename(path + ".tmp", to: path, replacing: false)
    try fileSystem.syncDirectory(CrashWorkload.storePath)
    return layer
  }

  private func readBack(_ log: Log) throws {
    let reader = try log.read()
    var entries: [CommitModel.Entry] = []
    while let commit = try reader.next() {
      var isReset = false
      if case .reset = commit.content { isReset = true }
      entries.append(
        CommitModel.Entry(
          sequence: commit.position.sequence.rawValue, epoch: commit.position.epoch, isReset: isReset,
          records: commit.records))
    }
    let durable = Int(log.status.durable.sequence.rawValue)
    if durable < promises.survivesPower {
      complaints.append("status forgets that \(promises.survivesPower) are durable")
    }
    // History in front of the anchor may have been released, and is read where it was not.
    let expected = model.live(durable)
    let isFine = expected.suffix(entries.count).elementsEqual(entries) && entries.count <= expected.count
    let neededCount = model.live(durable, behind: promises.anchors[0]).drop { $0.isReset && $0.recordCount == 0 }.count
    if !isFine || entries.count < neededCount {
      complaints.append("operation \(promises.operation) read \(entries.suffix(3)) for \(expected.suffix(3))")
    }
  }

  private func reopen(spaceAhead: Int = 64 << 10) throws {
    mark(Self.reopenMark)
    let recovered = try RecoveredLog.open(
      fileSystem, seed: workload.seed &* 31 &+ UInt64(promises.operation + 1), clock: clock,
      alignsCommits: workload.alignsCommits, spaceAhead: spaceAhead)
    let count = Int(recovered.log.status.last.sequence.rawValue)
    guard (promises.survivesKill...model.count).contains(count) else {
      complaints.append("reopen found \(count) commits of \(promises.survivesKill)...\(model.count)")
      throw Disagreement()
    }
    if !model.allows(recovered.entries, count, behind: promises.anchors) {
      complaints.append(
        "operation \(promises.operation): reopen replayed \(recovered.entries) behind anchor \(promises.anchors), "
          + "not \(Array(model.live(count, behind: promises.anchors[0])))")
    }
    model.truncate(to: count)
    promises.attempted = count
    log = recovered.log
    // Open syncs what it publishes.
    acknowledge(synced: true)
  }

  private func acknowledge(synced: Bool) {
    promises.survivesKill = model.count
    if synced { promises.survivesPower = model.count }
    mark("ack \(synced ? "synced" : "buffered") \(model.count)")
  }

  struct Disagreement: Error {}
}
