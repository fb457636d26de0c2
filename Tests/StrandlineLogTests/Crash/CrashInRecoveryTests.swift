import StrandlineTestSupport
import Testing

@testable import StrandlineLog

/// The process that recovers dies as well, and so does the one after it.
struct CrashInRecoveryTests {
  /// How a process ended.
  private enum End: CaseIterable {
    /// The cache lives on.
    case kill
    case powerLost, powerKept, powerRandom

    func image(_ image: DiskImage, _ generator: inout SeededGenerator) -> DiskImage {
      switch self {
      case .kill: image
      case .powerLost: image.powerLoss(keeping: .dropAll)
      case .powerKept: image.powerLoss(keeping: .keepAll)
      case .powerRandom: image.powerLoss(keeping: .random(seed: generator.next()))
      }
    }
  }

  @Test(arguments: CrashScale.sampleSeeds, CrashScale.recoveryDepths)
  func `a crash at any call of recovery changes nothing about what is recovered`(seed: UInt64, depth: Int) throws {
    let run = try CrashPoints(.long(seed: seed &+ 3), atomByteCount: 4096)
    var generator = SeededGenerator(seed: seed &+ UInt64(depth))
    let findings = Findings()
    var (stateCount, recoveryCount) = (0, 0)
    while stateCount < CrashScale.recoveryStateCount {
      let point = run.points.randomElement(using: &generator)!
      var ends = [End.allCases.randomElement(using: &generator)!]
      var image = ends[0].image(point.image, &generator)
      for _ in 1..<depth {
        // All calls of the last recovery are walked; the ones before it end somewhere.
        let images = try Self.openings(of: image, seed: generator.next())
        ends.append(End.allCases.randomElement(using: &generator)!)
        image = ends.last!.image(images.randomElement(using: &generator)!, &generator)
      }
      let images: [DiskImage]
      do {
        images = try Self.openings(of: image, seed: generator.next())
      } catch {
        findings.add("\(error)\n  \(run.description(point, "\(ends)"))")
        continue
      }
      recoveryCount += 1
      for (call, opening) in images.enumerated() {
        let end = End.allCases.randomElement(using: &generator)!
        let isKilled = (ends + [end]).allSatisfy { $0 == .kill }
        let id = generator.next()
        let oracle = isKilled ? RecoveryOracle(killed: point, seed: id) : RecoveryOracle(cut: point, seed: id)
        if let complaint = oracle.check(end.image(opening, &generator), deeply: stateCount % 8 == 0) {
          findings.add(
            "\(complaint)\n  \(run.description(point, "\(ends), then \(end) before change \(call) of recovery"))")
        }
        stateCount += 1
      }
    }
    print("crash in recovery, depth \(depth): seed \(seed &+ 3), \(recoveryCount) recoveries, \(stateCount) states")
    findings.report { Issue.record("\($0)") }
  }

  /// The disk before each change that opening makes, and behind the last.
  private static func openings(of image: DiskImage, seed: UInt64) throws -> [DiskImage] {
    let disk = SimulatedDisk(image)
    let images = Images()
    let recorder = RecordingFileSystem(disk) { call, moment in
      if moment == .before, call.operation.changesDisk { images.list.append(disk.image) }
    }
    _ = try RecoveredLog.open(recorder, seed: seed | 1)
    return images.list + [disk.image]
  }

  /// Written by the one thread that opens.
  private final class Images: @unchecked Sendable {
    var list: [DiskImage] = []
  }
}
