import Glibc
import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// A sync fails, drops what it was to write or keeps it, and every later sync succeeds: what Linux does.
struct FailingSyncsTests {
  @Test(arguments: 0..<2)
  func `after a failed sync nothing is acknowledged and nothing written until the log is opened again`(shard: Int)
    throws
  {
    let workload = CrashWorkload.short(seed: CrashScale.seed &* 200 &+ UInt64(shard))
    let calm = FaultyFileSystem(SimulatedDisk())
    try WorkloadRun(workload, on: calm).run()
    let kinds: [FileOperation] = [.sync, .syncData, .syncDirectory]
    let syncCount = kinds.reduce(0) { $0 + calm.counts[$1, default: 0] }
    var generator = SeededGenerator(seed: workload.seed)
    let findings = Findings()
    var (runCount, poisonCount) = (0, 0)
    for position in 0..<syncCount {
      for way in 0..<CrashScale.failingSyncWayCount {
        let loss: SyncLoss =
          switch way {
          case 0: .all
          case 1: .none
          default: .random(seed: generator.next())
          }
        let errno = Errno([EIO, ENOSPC, EDQUOT, EINTR].randomElement(using: &generator)!)
        let run = FaultedRun(workload, disk: SimulatedDisk())
        run.faulty.fail(Set(kinds), call: position, with: .failedSync(errno, losing: loss))
        run.runAll()
        runCount += 1
        if run.sawPoison { poisonCount += 1 }
        let complaints = run.complaints + run.finish(seed: generator.next(), closing: Bool.random(using: &generator))
        for complaint in complaints {
          findings.add(
            """
            \(complaint)
              seed \(workload.seed), sync \(position) of \(syncCount), losing \(loss), \(errno)
              struck \(run.faulty.struckCalls.first.map(\.description) ?? "nothing"), answered \(run.errors)
              \(run.recorder.trace(last: 14).replacing("\n", with: "\n    "))
            """)
        }
      }
    }
    print("failing syncs: seed \(workload.seed), \(syncCount) syncs, \(runCount) runs, \(poisonCount) poisoned")
    #expect(poisonCount > runCount / 2)
    findings.report { Issue.record("\($0)") }
  }
}
