import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// A process that appends, rolls, resets, copies, closes and reopens dies before each of its file calls.
struct CrashAtEveryCallTests {
  @Test(arguments: CrashScale.workloadSeeds, Array(0..<CrashScale.shardCount))
  func `a crash before any call keeps what was acknowledged and invents nothing`(seed: UInt64, shard: Int) throws {
    let run = try CrashPoints(.long(seed: seed), atomByteCount: seed % 2 == 0 ? 4096 : 512)
    let findings = Findings()
    var stateCount = 0
    for (index, point) in run.points.enumerated() where index % CrashScale.shardCount == shard {
      let id = seed << 32 | UInt64(index) << 8
      let states: [(name: String, image: DiskImage, oracle: RecoveryOracle)] = [
        ("killed", point.image, RecoveryOracle(killed: point, seed: id)),
        ("power cut, all dropped", point.image.powerLoss(keeping: .dropAll), RecoveryOracle(cut: point, seed: id + 1)),
        ("power cut, all kept", point.image.powerLoss(keeping: .keepAll), RecoveryOracle(killed: point, seed: id + 2)),
      ]
      for state in states {
        stateCount += 1
        if let complaint = state.oracle.check(state.image, deeply: true) {
          findings.add("\(complaint)\n  \(run.description(point, state.name))")
        }
      }
      if index % 16 < CrashScale.shardCount || point.call == nil {
        if let complaint = states[1].oracle.checkCopies(states[1].image) {
          findings.add("\(complaint)\n  \(run.description(point, "power cut, all dropped"))")
        }
      }
    }
    print("crash at every call: seed \(seed), shard \(shard), \(run.points.count) calls, \(stateCount) states")
    findings.report { Issue.record("\($0)") }
  }
}
