import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// The power goes while changes wait in the cache, and any of them may have reached the medium.
struct UnsyncedWritesTests {
  @Test(arguments: CrashScale.sampleSeeds)
  func `any subset of unsynced changes keeps what was acknowledged and invents nothing`(seed: UInt64) throws {
    let run = try CrashPoints(.long(seed: seed), atomByteCount: seed % 2 == 0 ? 512 : 4096)
    var generator = SeededGenerator(seed: seed)
    let findings = Findings()
    var (stateCount, pointCount, wholeCount) = (0, 0, 0)
    let pending = run.points.map(\.image.pendingAtoms.count)
    let share = max(4, CrashScale.subsetStateCount / max(1, pending.count { $0 > 0 }))
    for (point, atomCount) in zip(run.points, pending) where atomCount > 0 {
      pointCount += 1
      let isWhole = atomCount <= 12 && 1 << atomCount <= share
      if isWhole { wholeCount += 1 }
      let policies: [PowerLossPolicy] =
        isWhole
        ? (0..<UInt64(1) << UInt64(atomCount)).map { .keepMask($0) }
        : (0..<share).map { _ in Self.policy(atomCount, &generator) }
      for policy in policies {
        let oracle = RecoveryOracle(cut: point, seed: seed << 32 | UInt64(stateCount) << 8)
        let image = point.image.powerLoss(keeping: policy)
        if let complaint = oracle.check(image, deeply: stateCount % 32 == 0) {
          findings.add("\(complaint)\n  \(run.description(point, "\(policy) of \(atomCount) changes"))")
        }
        stateCount += 1
      }
    }
    print(
      "subsets of unsynced changes: seed \(seed), \(pointCount) calls, \(stateCount) states, "
        + "all subsets at \(wholeCount) calls")
    findings.report { Issue.record("\($0)") }
  }

  /// A random subset, one change alone, all but one, or a cut in either order of writing back.
  private static func policy(_ atomCount: Int, _ generator: inout SeededGenerator) -> PowerLossPolicy {
    let atom = Int.random(in: 0..<atomCount, using: &generator)
    return switch Int.random(in: 0..<8, using: &generator) {
    case 0: .dropOnly(atom)
    case 1: .keepOnly(atom)
    case 2: .keepFirst(atom)
    case 3: .keepLast(atom)
    default: .random(seed: generator.next())
    }
  }
}
