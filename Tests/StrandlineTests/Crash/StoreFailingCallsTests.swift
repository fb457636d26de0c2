import Glibc
import Strandline
import StrandlineLog
import StrandlineTestSupport
import Testing

/// Any call of the disk fails, once or from then on; then the trouble ends. What was refused left nothing, what was acknowledged stays.
struct StoreFailingCallsTests {
  private static let errnos = [EIO, ENOSPC, EINTR, EMFILE].map { Errno($0) }

  /// Runs a workload with one fault and answers what went wrong.
  private static func complaint(
    _ workload: StoreWorkload, fault: Fault, call: Int, _ repetition: FaultyFileSystem.Repetition
  ) -> String? {
    let disk = SimulatedDisk(DiskImage())
    let faulty = FaultyFileSystem(disk)
    let run = StoreRun(workload, on: faulty)
    faulty.fail(call: call, with: fault, repetition)
    var struck: String?
    for index in workload.operations.indices {
      do {
        try run.perform(index)
      } catch {
        struck = struck ?? "operation \(index) (\(workload.operations[index])): \(error)"
        let isInDoubt = isPoisoned(error)
        run.settle(inDoubt: isInDoubt)
        // A poisoned store is reopened, as its documentation says; one that could not be opened is tried again.
        if isInDoubt { break }
        run.compare()
      }
      if !run.complaints.isEmpty { return "\(run.complaints[0]); first failure: \(struck ?? "none")" }
    }
    run.abandon()
    faulty.heal()
    do {
      let store = try StoreWorkload.open(faulty, seed: workload.seed &+ 77)
      let found = try StoreWorkload.state(of: store)
      guard run.model.place(of: found, afterPowerLoss: true) != nil else {
        return "after the trouble a state that no prefix of the commits has; first failure: \(struck ?? "none")"
      }
      try store.write { (tx) throws(StoreError) in _ = try tx.put(["id": 39, "title": "afterwards"], into: "notes") }
      try store.compact()
      guard try store.view().get(39, in: "notes")?["title"] == "afterwards" else {
        return "a write after the trouble is not seen"
      }
      try store.close()
      return nil
    } catch {
      return "after the trouble: \(error); first failure: \(struck ?? "none")"
    }
  }

  private static func isPoisoned(_ error: any Error) -> Bool {
    switch error {
    case StoreError.poisoned, WriteError<StoreError>.store(.poisoned), WriteError<any Error>.store(.poisoned): true
    default: false
    }
  }

  @Test(arguments: [UInt64(11), 12])
  func `a failing call costs what it was for and nothing else`(seed: UInt64) throws {
    let workload = StoreWorkload(seed: seed &+ SoakScale.seed, count: 60)
    let disk = SimulatedDisk(DiskImage())
    let counter = FaultyFileSystem(disk)
    let run = StoreRun(workload, on: counter)
    try run.run()
    #expect(run.complaints.isEmpty)
    let callCount = counter.callCount
    let stride = SoakScale.stride(of: callCount * Self.errnos.count * 2, running: 300)
    let findings = Findings()
    var number = 0
    var runCount = 0
    for call in 0..<callCount {
      for errno in Self.errnos {
        for repetition in [FaultyFileSystem.Repetition.once, .times(40)] {
          number += 1
          guard number % stride == 0 else { continue }
          runCount += 1
          if let complaint = Self.complaint(workload, fault: .errno(errno), call: call, repetition) {
            findings.add("\(complaint)\n  seed \(seed), call \(call) fails with \(errno), \(repetition)")
          }
        }
      }
    }
    print("store, failing calls: seed \(seed), \(callCount) calls, \(runCount) runs")
    findings.report { Issue.record("\($0)") }
  }
}
