import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// The order of the calls, read from the trace: what must be on the medium before what.
struct OrderOfCallsTests {
  @Test(arguments: CrashScale.workloadSeeds + CrashScale.sampleSeeds)
  func `every promise follows the sync that covers it`(seed: UInt64) throws {
    let recorder = RecordingFileSystem(SimulatedDisk(), keepsBytes: true)
    let run = WorkloadRun(.long(seed: seed), on: recorder)
    run.mark = { recorder.mark($0) }
    try run.run()
    var order = OrderOfCalls()
    let findings = Findings()
    let entries = recorder.entries
    for (index, entry) in entries.enumerated() {
      for violation in order.take(entry) {
        let trace = entries[max(0, index - 12)...index].map(\.description).joined(separator: "\n    ")
        findings.add("\(violation)\n  seed \(seed), entry \(index)\n    \(trace)")
      }
    }
    print("order of calls: seed \(seed), \(entries.count) entries, \(order.checkCount) checks")
    #expect(order.checkCount > 1_000)
    findings.report { Issue.record("\($0)") }
  }

  @Test(arguments: CrashScale.sampleSeeds)
  func `recovery syncs the tail and the directory before anything acts on them`(seed: UInt64) throws {
    let run = try CrashPoints(.long(seed: seed &+ 4))
    var generator = SeededGenerator(seed: seed)
    let findings = Findings()
    var actCount = 0
    for _ in 0..<CrashScale.orderRecoveryCount {
      let point = run.points.randomElement(using: &generator)!
      let isCut = Bool.random(using: &generator)
      let image = isCut ? point.image.powerLoss(keeping: .random(seed: generator.next())) : point.image
      let recorder = RecordingFileSystem(SimulatedDisk(image), keepsBytes: true)
      _ = try RecoveredLog.open(recorder, seed: generator.next())
      let order = RecoveryOrder(image, recorder.entries)
      actCount += order.actCount
      for violation in order.violations {
        findings.add(
          "\(violation)\n  \(run.description(point, isCut ? "power cut" : "killed"))\n  recovery:\n    "
            + recorder.trace().replacing("\n", with: "\n    "))
      }
    }
    print("order of recovery: seed \(seed &+ 4), \(CrashScale.orderRecoveryCount) recoveries, \(actCount) acts")
    findings.report { Issue.record("\($0)") }
  }
}
