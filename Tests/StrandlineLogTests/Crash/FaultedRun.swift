import StrandlineTestSupport

@testable import StrandlineLog

/// Drives a workload over a disk that fails, and holds every answer against what the log says of its failures.
final class FaultedRun {
  let disk: SimulatedDisk
  let faulty: FaultyFileSystem
  let recorder: RecordingFileSystem
  private(set) var complaints: [String] = []
  /// What operations answered, with the operation's number.
  private(set) var errors: [String] = []
  /// A log was poisoned on the way.
  private(set) var sawPoison = false
  private let run: WorkloadRun

  init(_ workload: CrashWorkload, disk: SimulatedDisk) {
    self.disk = disk
    faulty = FaultyFileSystem(disk)
    recorder = RecordingFileSystem(faulty)
    run = WorkloadRun(workload, on: recorder)
    run.mark = { [recorder] in recorder.mark($0) }
  }

  /// Runs every operation, whatever the ones before it answered.
  func runAll() {
    for index in run.workload.operations.indices { perform(index) }
    complaints += run.complaints
  }

  private func perform(_ index: Int) {
    let operation = run.workload.operations[index]
    let wasPoisoned = run.log?.status.poison != nil
    // The test writes layers itself, so what it does on a poisoned log would be taken for the log's doing.
    if wasPoisoned, operation.makesLayer { return }
    let entryCount = recorder.entries.count
    do {
      try run.perform(index)
      if wasPoisoned, operation.writes { complaints.append("operation \(index) wrote after poison") }
    } catch let error as LogError {
      errors.append("\(index): \(error)")
      recorder.mark("\(error)")
      if !isFair(error) { complaints.append("operation \(index) answered \(error)") }
    } catch is Errno {
      // The test's own writing of a layer.
    } catch {
      complaints.append("operation \(index): \(error)")
    }
    if run.log?.status.poison != nil || faulty.struckCalls.contains(where: \.operation.syncs) { run.doubtBuffered() }
    if run.log?.status.poison != nil { sawPoison = true }
    let entries = recorder.entries[entryCount...]
    if wasPoisoned {
      expectNoChange(entries, "operation \(index) on a poisoned log")
    } else if run.log?.status.poison != nil {
      // The recorder sees the calls that the faults are dealt to, so their numbers agree.
      let struck = faulty.struckCalls.last?.number ?? 0
      expectNoChange(
        entries.drop { !$0.isCall(struck) }.dropFirst(), "operation \(index) after the failure that poisons")
    }
  }

  /// A poisoned log must leave the disk alone until a process opens it again. It may take away what it had begun under a
  /// temporary name, which nobody reads.
  private func expectNoChange(_ entries: ArraySlice<RecordingFileSystem.Entry>, _ what: String) {
    for entry in entries {
      switch entry {
      case .mark(WorkloadRun.reopenMark): return
      case .mark: continue
      case .call(let call, let outcome, _):
        let isUnread = call.path.contains(".tmp") || call.name.hasPrefix("layer-")
        if call.operation.changesDisk, call.operation != .dropCache, !outcome.isFailure, !isUnread {
          complaints.append("\(what) did \(call)")
          return
        }
      }
    }
  }

  /// Whether a failing call may be answered so. Corruption may not: nothing on the disk is damaged.
  private func isFair(_ error: LogError) -> Bool {
    switch error {
    case .outOfSpace, .poisoned, .ioFailed: true
    // The errno that says that somebody holds the lock.
    case .locked: faulty.struckCalls.contains { $0.operation == .lockDirectory }
    // The last call of a copy; the copy is there, and nobody promises that its name is.
    case .copyUnconfirmed(_, let failure):
      failure.operation == .syncDirectory && faulty.struckCalls.contains { $0.operation == .syncDirectory }
    default: false
    }
  }

  /// Ends the trouble. A log that is not poisoned must take a commit; then the process ends, and the disk must hold what
  /// was promised, after a kill and after a power cut.
  func finish(seed: UInt64, closing: Bool) -> [String] {
    faulty.heal()
    recorder.mark("healed")
    var found: [String] = []
    if let log = run.log, log.status.poison == nil {
      do {
        try run.appendOneMore([[42]])
      } catch {
        found.append("healed, and an append answers \(error)")
      }
    }
    do {
      if closing { try run.close() }
    } catch {
      errors.append("close: \(error)")
    }
    run.abandon()
    let point = CrashPoint(image: disk.image, promises: run.promises, model: run.model, call: nil)
    if let complaint = RecoveryOracle(killed: point, seed: seed).check(point.image, deeply: true) {
      found.append("killed: \(complaint)")
    }
    let cut = RecoveryOracle(cut: point, seed: seed &+ 1)
    let image = point.image.powerLoss(keeping: .dropAll)
    if let complaint = cut.check(image, deeply: false) ?? cut.checkCopies(image) {
      found.append("power cut: \(complaint)")
    }
    if disk.openDescriptorCount != 0 { found.append("\(disk.openDescriptorCount) descriptors left open") }
    return found
  }
}

extension CrashWorkload.Operation {
  /// Whether the test writes a layer on the way.
  var makesLayer: Bool {
    switch self {
    case .compact, .reset(_, _, hasBase: true): true
    default: false
    }
  }

  /// Whether the operation always puts something into the log.
  var writes: Bool {
    switch self {
    case .append, .reset: true
    default: false
    }
  }
}

extension FileOperation {
  /// Whether a call of this kind moves changes to the medium.
  var syncs: Bool { self == .sync || self == .syncData || self == .syncDirectory }
}

extension RecordingFileSystem.Outcome {
  var isFailure: Bool { if case .failed = self { true } else { false } }
}

extension RecordingFileSystem.Entry {
  fileprivate func isCall(_ number: Int) -> Bool {
    if case .call(let call, _, _) = self { call.number == number } else { false }
  }
}
